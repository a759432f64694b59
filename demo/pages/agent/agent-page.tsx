export default function AgentPage() {
  return <main id="main" tabIndex={-1} class="page" />;
}
