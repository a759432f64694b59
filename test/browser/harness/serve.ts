import { serveSources } from '../../../scripts/serve-sources.mjs';

/** Serves the repository while the tests run. Test workers find the address in `TOKENPRISM_TEST_ORIGIN`. */
export default async function serve(): Promise<() => Promise<void>> {
  const { origin, close } = await serveSources();
  process.env.TOKENPRISM_TEST_ORIGIN = origin;
  return close;
}
