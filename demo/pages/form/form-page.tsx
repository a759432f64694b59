export default function FormPage() {
  return <main id="main" tabIndex={-1} class="page" />;
}
