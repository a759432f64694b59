/** Where the references of a schema lead. */

/** A schema node, or anything at all: schemas come from callers. */
export type Schema = unknown;

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export class SchemaReferences {
  readonly #root: Schema;
  #anchors: Map<string, Schema> | null = null;

  constructor(root: Schema) {
    this.#root = root;
  }

  /** The target of a node's `$ref`, which holds beside its other keywords; undefined without one or if it is missing. */
  target({ $ref, $recursiveRef }: Readonly<Record<string, unknown>>): Schema {
    const reference = $ref ?? $recursiveRef;
    if (typeof reference !== 'string') return undefined;
    const own = isRecord(this.#root) ? this.#root.$id : undefined;
    const isOwn = typeof own === 'string' && reference.startsWith(own);
    const fragment = decoded(isOwn ? reference.slice(own.length) || '#' : reference);
    if (!fragment.startsWith('#')) return undefined;
    if (fragment.length > 1 && fragment[1] !== '/') return this.#anchor(fragment.slice(1));
    let target: unknown = this.#root;
    for (const part of fragment.split('/').slice(1)) {
      const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
      if (typeof target !== 'object' || target === null || !Object.hasOwn(target, key)) return undefined;
      target = (target as Record<string, unknown>)[key];
    }
    return target;
  }

  #anchor(name: string): Schema {
    if (!this.#anchors) {
      this.#anchors = new Map();
      const waiting = new Set([this.#root]);
      for (const value of waiting) {
        if (typeof value !== 'object' || value === null) continue;
        const { $anchor } = value as Record<string, unknown>;
        if (typeof $anchor === 'string') this.#anchors.set($anchor, value);
        for (const inner of Object.values(value)) waiting.add(inner);
      }
    }
    return this.#anchors.get(name);
  }
}

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    // A stray percent sign is itself.
    return fragment;
  }
}
