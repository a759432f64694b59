import type { RunnableTool, ToolRunEvent } from '../../../src/tool-loop/types.ts';

export const thought = '<think>\nWhere is it?\n</think>\n\n';
export const answer = `${thought}It is 18 degrees in Rome.`;
export const location = {
  type: 'object',
  properties: { location: { type: 'string' } },
  required: ['location'],
};

/** A call of `get_weather` with these arguments, as the model writes it. */
export const callWith = (args: string, name = 'get_weather') =>
  `<tool_call>\n{"name": "${name}", "arguments": ${args}}\n</tool_call>`;

/** A tool that notes what it ran with. */
export function noting(ran: unknown[], more: Partial<RunnableTool> = {}): RunnableTool {
  return {
    name: 'get_weather',
    parameters: location,
    run: (args) => {
      ran.push(args);
      return { celsius: 18 };
    },
    ...more,
  };
}

export async function collect(run: AsyncIterable<ToolRunEvent>): Promise<ToolRunEvent[]> {
  const events: ToolRunEvent[] = [];
  for await (const event of run) events.push(event);
  return events;
}
