import { evaluate } from './expression.ts';
import { type Arguments, readable, requireText, type Tool } from './tool.ts';

export const calculator: Tool = {
  run(args: Arguments) {
    return { result: readable(evaluate(requireText(args, 'expression'))) };
  },
};
