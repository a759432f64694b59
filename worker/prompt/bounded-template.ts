import { Environment, Interpreter, Template } from '@huggingface/jinja';

type Statement = Parameters<Interpreter['evaluate']>[0];
type Value = ReturnType<Interpreter['evaluate']>;

/** What rendering may take. Templates of real models need some hundred steps a message. */
export const templateLimits = {
  /** Nodes of the template that are evaluated, and what is read of long strings and lists beside them. */
  steps: 4_000_000,
  /** UTF-16 units of any string. */
  characters: 2 ** 26,
  /** Values in a list or mapping, with all those inside of it. */
  values: 1_000_000,
  /** Numbers that one `range` gives. */
  range: 100_000,
};

/** A template took more than {@link templateLimits} let it. */
export class TemplateLimitError extends Error {}

/**
 * A chat template that ends: it comes with the model, from whoever wrote that, and an interpreter can't be stopped from
 * outside while it runs. There is no `while`, so that what runs for long are loops in loops, macros that call
 * themselves, and strings and lists that are doubled.
 */
export class BoundedTemplate {
  readonly #template: Template;

  /** @throws Error when the source is no template */
  constructor(source: string) {
    this.#template = new Template(source);
  }

  /** @throws TemplateLimitError beyond the limits; Error when the template raises one, or fails */
  render(variables: Record<string, unknown>): string {
    const environment = new Environment();
    for (const [name, value] of [...Object.entries(globals), ...Object.entries(variables)]) {
      environment.set(name, value);
    }
    return String(new BoundedInterpreter(environment).run(this.#template.parsed).value);
  }
}

/** The globals of the interpreter's own `render`, which exports none of them; `range` is bounded. */
const globals = {
  true: true,
  false: false,
  none: null,
  True: true,
  False: false,
  None: null,
  raise_exception: (message: string) => {
    throw new Error(message);
  },
  range: boundedRange,
  strftime_now: (format: string) => new Template('{{ strftime_now(format) }}').render({ format }),
};

function boundedRange(start: number, stop?: number, step = 1): number[] {
  const [from, to] = stop === undefined ? [0, start] : [start, stop];
  const length = Math.max(0, Math.ceil((to - from) / step));
  // A step of 0 gives no number, or an infinite one.
  if (!(length <= templateLimits.range)) {
    throw new TemplateLimitError(`a range of ${length} numbers, more than ${templateLimits.range}`);
  }
  return Array.from({ length }, (_, index) => from + index * step);
}

class BoundedInterpreter extends Interpreter {
  #steps = 0;
  /** Expressions whose values a loop walks through. */
  readonly #walked = new Set<unknown>();
  readonly #sizes = new WeakMap<Value, number>();

  override evaluate(statement: Statement, environment: Environment): Value {
    this.#spend(1);
    if (statement?.type === 'For') {
      const { iterable } = statement as typeof statement & { iterable: { lhs?: unknown } };
      this.#walked.add(iterable.lhs ?? iterable);
    }
    const value = super.evaluate(statement, environment);
    const content: unknown = value.value;
    if (typeof content === 'string') {
      const { characters } = templateLimits;
      if (content.length > characters) {
        throw new TemplateLimitError(`a string of ${content.length} characters, more than ${characters}`);
      }
      // Characters are read faster than nodes are evaluated, and so are the items of a list.
      this.#spend(content.length >> 10);
      return value;
    }
    const items = itemsOf(value);
    if (items) {
      const { values } = templateLimits;
      if (this.#sizeOf(value, items) > values)
        throw new TemplateLimitError(`a list of more than ${values} values`);
      // A turn of a loop takes as long as some nodes.
      this.#spend(this.#walked.has(statement) ? 8 * items.size : items.size >> 3);
    }
    return value;
  }

  #spend(steps: number): void {
    this.#steps += steps;
    const { steps: most } = templateLimits;
    if (this.#steps > most) throw new TemplateLimitError(`more than ${most} steps`);
  }

  /** Values inside of a list or mapping and that itself; those that stand in it twice count twice, as they are printed. */
  #sizeOf(value: Value, items: Items): number {
    const known = this.#sizes.get(value);
    if (known !== undefined) return known;
    let size = 1;
    for (const item of items.values()) {
      // What can still change has no size that could be kept; no template puts it into a list.
      if (item.type === namespace) throw new TemplateLimitError('a namespace inside of another value');
      const inner = itemsOf(item);
      size += inner ? this.#sizeOf(item, inner) : 1;
    }
    if (value.type !== namespace) this.#sizes.set(value, size);
    return size;
  }
}

const namespace = 'NamespaceValue';

interface Items {
  size: number;
  values(): Iterable<Value>;
}

function itemsOf({ value }: Value): Items | null {
  const content: unknown = value;
  if (content instanceof Map) return content as Map<string, Value>;
  if (!Array.isArray(content)) return null;
  const items = content as Value[];
  return { size: items.length, values: () => items.values() };
}
