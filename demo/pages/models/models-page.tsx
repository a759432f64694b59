export default function ModelsPage() {
  return <main id="main" tabIndex={-1} class="page" />;
}
