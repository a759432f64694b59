import { BadRequestError } from '../../src/errors.ts';
import type { Constraint, ContentConstraint } from '../../src/protocol.ts';

const ADVICE: Readonly<Record<ContentConstraint['kind'], string>> = {
  json: 'Give a simpler schema.',
  regex: 'Give a simpler expression.',
  choice: 'Give fewer or shorter choices.',
  grammar: 'Write simpler rules, or fewer of them.',
  structural_tag: 'Give fewer tags, or simpler ones.',
};

/**
 * Makes a grammar. What is wrong with it as a whole is an error of the field of the request that it was made for, with
 * advice that concerns this field.
 *
 * @throws BadRequestError always with a param
 */
export async function namingField<Made>(
  { calls, content }: Constraint,
  make: () => Promise<Made>,
): Promise<Made> {
  try {
    return await make();
  } catch (error) {
    if (!(error instanceof BadRequestError) || error.param !== null) throw error;
    const ofCalls =
      calls !== null && calls.functions.length > 0 ? 'Offer fewer tools, or simpler ones.' : null;
    const ofContent = content && ADVICE[content.kind];
    // Tools beside a form of the content: what is written by hand is the likelier cause.
    const isContent = ofContent !== null && (ofCalls === null || content?.kind === 'grammar');
    throw new BadRequestError(
      `${error.message} ${isContent ? ofContent : [ofCalls, ofContent].filter(Boolean).join(' ')}`.trim(),
      {
        param: isContent ? content!.path : 'tools',
        code: error.code,
        cause: error,
      },
    );
  }
}
