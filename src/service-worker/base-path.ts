import { BadRequestError } from '../errors.ts';

/** The path that the engine's routes stand below: `/v1`, or what was given. Throws a `BadRequestError` for a wrong one. */
export function checkBasePath(given: string | undefined): string {
  if (given === undefined) return '/v1';
  const isPath = typeof given === 'string' && /^(?:\/[\w.~-]+)+$/.test(given);
  // A path with dots for a folder is none that a request could have.
  if (isPath && new URL(given, 'http://engine').pathname === given) return given;
  throw new BadRequestError(
    `'basePath' must be a path from the root, without a slash at its end, such as "/v1"; got ${JSON.stringify(given)}.`,
    { param: 'basePath', code: 'invalid_value' },
  );
}

/** Whether a path is one of the engine's. */
export const isBelow = (basePath: string, pathname: string): boolean =>
  pathname === basePath || pathname.startsWith(`${basePath}/`);
