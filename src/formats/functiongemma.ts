/**
 * FunctionGemma: calls in a notation of its own.
 *
 * ```
 * <start_function_call>call:f{a:<escape>x<escape>,n:4}<end_function_call>
 * ```
 *
 * Rests on the model card of google/functiongemma-270m-it.
 */
import type { Family } from './family.ts';
import { delimitedCalls } from './shapes/delimited-calls.ts';

const START = '<start_function_call>';

export const family: Family = {
  tools: [
    {
      format: delimitedCalls('functiongemma', START, '<end_function_call>', '<escape>'),
      recognise: ({ chatTemplate }) =>
        chatTemplate.includes(START) || chatTemplate.includes('<start_function_declaration>'),
    },
  ],
};
