import { type GraphNode, ModelFile } from './model-file.ts';

/** What a model file allows, and what was changed in it. */
export interface GraphEdits {
  /**
   * The input of shape [rows] that says for which of the tokens fed logits are computed; `null` where the graph
   * computes them for all, or has an input of its own for that.
   */
  rows: string | null;
  /**
   * The inputs that took the place of `attention_mask`: `last`, int32 [batch], the index of the last token; `total`,
   * an int32 scalar, the tokens held with those fed. `null` where the mask was left in.
   */
  lengths: { last: string; total: string } | null;
  /** Inputs that no node reads, and that are gone. */
  unused: string[];
  /** Whether keys and values can be appended in place: one buffer is past and present at once. */
  sharesCache: boolean;
  /** Why something was not changed, for people. */
  skipped: string[];
}

/** What the graph is when nothing is known of it. */
export const noEdits = (why: string): GraphEdits => ({
  rows: null,
  lengths: null,
  unused: [],
  sharesCache: false,
  skipped: [why],
});

/**
 * Edits a decoder so that it computes only what is read and runs on the GPU alone:
 *
 * ```
 * hidden ─▶ MatMul ─▶ logits            hidden ─▶ Gather(rows) ─▶ MatMul ─▶ logits
 *
 * attention_mask ─▶ ReduceSum ─▶ Sub 1 ─▶ Cast ─▶ attention      last  ─▶ attention
 *               └─▶ Shape ─▶ Gather 1 ─▶ Cast ─▶                  total ─▶
 * ```
 *
 * The nodes of the mask are of 64-bit integers, which ONNX Runtime keeps on the CPU, and a session with any node
 * there can't be captured. A graph of another shape is left as it is, and `skipped` says why.
 */
export function editModel(model: Uint8Array<ArrayBuffer>): {
  model: Uint8Array<ArrayBuffer>;
  edits: GraphEdits;
  /** The tensor that takes most, in bytes, be it in the file or outside; `null` where that is not known. */
  largest: { name: string; bytes: number } | null;
} {
  let file: ModelFile;
  try {
    file = new ModelFile(model);
  } catch (cause) {
    // The runtime has its own say on a file that it can't read.
    return { model, edits: noEdits(cause instanceof Error ? cause.message : String(cause)), largest: null };
  }
  const largest = file.largestConstant();
  const edits: GraphEdits = {
    rows: null,
    lengths: null,
    unused: dropUnused(file),
    sharesCache: sharesCache(file),
    skipped: [],
  };
  const attempt = <Result>(what: string, edit: () => Result | string): Result | null => {
    const result = edit();
    if (typeof result !== 'string') return result;
    edits.skipped.push(`${what}: ${result}`);
    return null;
  };
  edits.rows = attempt('rows of logits', () => selectRows(file))?.name ?? null;
  edits.lengths = attempt('attention mask', () => cutMask(file));
  if (!edits.sharesCache)
    edits.skipped.push('cache in place: not all keys and values go to GroupQueryAttention');
  const isChanged = edits.rows !== null || edits.lengths !== null || edits.unused.length > 0;
  return { model: isChanged ? file.bytes() : model, edits, largest };
}

const elementwise = new Set(['Cast', 'Identity', 'Mul', 'Div', 'Tanh']);
const projections = new Set(['MatMul', 'MatMulNBits']);

/** Puts a Gather before the projection to the vocabulary. A string says why not. */
function selectRows(file: ModelFile): { name: string } | string {
  if (file.inputs.some((name) => name.endsWith('logits_to_keep'))) return 'the graph has an input for them';
  let node = file.producerOf('logits');
  while (node && elementwise.has(node.operator)) {
    const [input, ...others] = node.inputs.filter((name) => name !== '' && !file.isConstant(name));
    if (input === undefined || others.length > 0) return `${node.operator} takes several values`;
    node = file.producerOf(input);
  }
  if (!node) return 'nothing computes them';
  const hidden = node.inputs[0]!;
  if (!projections.has(node.operator) || file.isConstant(hidden)) return `they come from ${node.operator}`;
  const name = freeName(file, 'logit_rows');
  const selected = freeName(file, 'hidden_of_logit_rows');
  file.insertNode(
    {
      name: selected,
      operator: 'Gather',
      inputs: [hidden, name],
      outputs: [selected],
      integers: new Map([['axis', 1]]),
      hasGraphs: false,
    },
    node,
  );
  file.rewire(node, hidden, selected);
  file.addInput(name, 'int64', ['logit_rows']);
  return { name };
}

/** Replaces the mask by the two lengths that attention makes of it. A string says why not. */
function cutMask(file: ModelFile): { last: string; total: string } | string {
  const attentions = file.nodes.filter(({ operator }) => operator === 'GroupQueryAttention');
  const [lastName, totalName] = [attentions[0]?.inputs[5], attentions[0]?.inputs[6]];
  if (!lastName || !totalName) return 'there is no GroupQueryAttention';
  if (file.nodes.some(({ hasGraphs }) => hasGraphs)) return 'there are graphs inside of nodes';
  if (attentions.some(({ inputs }) => inputs[5] !== lastName || inputs[6] !== totalName)) {
    return 'attention takes different lengths';
  }
  const nodes = new Set<GraphNode>();
  /** The value that `name` is made of by one of `operators`, with the constant that it takes. */
  const step = (name: string | null, operators: string[], constant: number | null): string | null => {
    const node = name === null ? undefined : file.producerOf(name);
    if (!node || !operators.includes(node.operator)) return null;
    const [, second] = node.inputs;
    // Axes can be an attribute in older files.
    if (constant !== null && second && file.integerOf(second) !== constant) return null;
    nodes.add(node);
    return node.inputs[0]!;
  };
  const lastOf = step(step(step(lastName, ['Cast'], null), ['Sub'], 1), ['ReduceSum'], 1);
  const totalOf = step(step(step(totalName, ['Cast'], null), ['Gather'], 1), ['Shape'], null);
  if (lastOf !== 'attention_mask' || totalOf !== 'attention_mask')
    return 'the lengths are made in another way';
  const isInside = (node: GraphNode) => nodes.has(node);
  const others = [...nodes]
    .flatMap(({ outputs }) => outputs)
    .filter((name) => name !== lastName && name !== totalName);
  if (![...others, 'attention_mask'].every((name) => file.consumersOf(name).every(isInside))) {
    return 'other nodes read the mask';
  }
  const isAttention = (node: GraphNode) => attentions.includes(node);
  if (![lastName, totalName].every((name) => file.consumersOf(name).every(isAttention))) {
    return 'other nodes read the lengths';
  }
  const last = freeName(file, 'last_token');
  const total = freeName(file, 'total_tokens');
  for (const node of attentions) {
    file.rewire(node, lastName, last);
    file.rewire(node, totalName, total);
  }
  for (const node of nodes) file.removeNode(node);
  file.removeInput('attention_mask');
  file.addInput(last, 'int32', ['batch_size']);
  file.addInput(total, 'int32', []);
  return { last, total };
}

/** Attention that turns positions itself leaves `position_ids` unread: the runtime would copy them for every run. */
function dropUnused(file: ModelFile): string[] {
  if (file.nodes.some(({ hasGraphs }) => hasGraphs)) return [];
  const unused = ['position_ids'].filter(
    (name) =>
      file.inputs.includes(name) && !file.outputs.includes(name) && file.consumersOf(name).length === 0,
  );
  for (const name of unused) file.removeInput(name);
  return unused;
}

/** GroupQueryAttention appends in place where past and present are the same buffer. */
function sharesCache(file: ModelFile): boolean {
  const pasts = file.inputs.filter((name) => name.startsWith('past_key_values.'));
  return (
    pasts.length > 0 &&
    pasts.every((name) => {
      const [node, ...others] = file.consumersOf(name);
      if (node?.operator !== 'GroupQueryAttention' || others.length > 0) return false;
      const present = name.replace('past_key_values.', 'present.');
      return node.outputs[node.inputs.indexOf(name) - 2] === present;
    })
  );
}

function freeName(file: ModelFile, wanted: string): string {
  let name = wanted;
  for (let number = 2; file.has(name); number++) name = `${wanted}_${number}`;
  return name;
}
