import { BadRequestError } from '../errors.ts';

/** The body of a request, whatever JSON it is. Throws a `BadRequestError` where it is none. */
export async function readJson(request: Request): Promise<unknown> {
  const type = request.headers.get('content-type') ?? '';
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    const got = type ? `got ${JSON.stringify(type)}` : 'there is none';
    throw new BadRequestError(`The header Content-Type must be application/json; ${got}.`, {
      code: 'unsupported_content_type',
    });
  }
  const text = await request.text();
  try {
    return JSON.parse(text);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new BadRequestError(`The body is not JSON (${why}).`, { code: 'invalid_json', cause });
  }
}
