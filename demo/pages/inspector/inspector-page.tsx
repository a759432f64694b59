export default function InspectorPage() {
  return <main id="main" tabIndex={-1} class="page" />;
}
