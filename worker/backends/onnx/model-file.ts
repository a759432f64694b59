import { contentField, contentHead, type Field, fieldsOf, integerField, join } from './protobuf.ts';

/** Field numbers of `onnx.proto3`. */
const modelGraph = 7;
const graphField = { node: 1, initializer: 5, input: 11, output: 12 };
const nodeField = { input: 1, output: 2, name: 3, op: 4, attribute: 5, domain: 7 };
const attributeField = { name: 1, integer: 3, tensor: 5, graph: 6, graphs: 11 };
const tensorField = { dims: 1, type: 2, int32s: 5, int64s: 7, name: 8, raw: 9, external: 13 };
const tensorTypes = { int32: 6, int64: 7 };

const decoder = new TextDecoder();
const textOf = (field: Field) => decoder.decode(field.content);

/** One node of the graph. `inputs` may hold empty names: inputs that are left out. */
export interface GraphNode {
  name: string;
  operator: string;
  inputs: string[];
  outputs: string[];
  /** Integer attributes by name. */
  integers: Map<string, number>;
  /** Whether the node has graphs inside, which can read any value of the graph around it. */
  hasGraphs: boolean;
}

/** An ONNX model as bytes, with the parts of its graph that edits need. Weights are never copied but by `bytes`. */
export class ModelFile {
  readonly nodes: GraphNode[] = [];
  readonly inputs: string[];
  readonly outputs: string[];
  readonly #model: Field[];
  readonly #graph: Field[];
  readonly #wholeNodes = new Map<GraphNode, Field>();
  readonly #constants = new Map<string, Uint8Array>();
  readonly #removedInputs = new Set<string>();
  readonly #addedInputs: Uint8Array[] = [];
  readonly #changed = new Set<GraphNode>();

  /** @throws Error when the bytes are no ONNX model */
  constructor(model: Uint8Array) {
    this.#model = fieldsOf(model);
    const graph = this.#model.find(({ number }) => number === modelGraph);
    if (!graph) throw new Error('The file has no graph.');
    this.#graph = fieldsOf(graph.content);
    for (const field of this.#graph) {
      if (field.number === graphField.node) {
        const node = readNode(field.content);
        this.nodes.push(node);
        this.#wholeNodes.set(node, field);
        if (node.operator === 'Constant') this.#readConstant(node, field);
      } else if (field.number === graphField.initializer) {
        // The name comes behind the data in some files; finding it costs nothing, as the data is skipped.
        const name = fieldsOf(field.content).find(({ number }) => number === tensorField.name);
        if (name) this.#constants.set(textOf(name), field.content);
      }
    }
    const names = (number: number) =>
      this.#graph
        .filter((field) => field.number === number)
        .map(({ content }) => textOf(fieldsOf(content).find((field) => field.number === 1)!));
    this.inputs = names(graphField.input);
    this.outputs = names(graphField.output);
  }

  producerOf(name: string): GraphNode | undefined {
    return this.nodes.find(({ outputs }) => outputs.includes(name));
  }

  consumersOf(name: string): GraphNode[] {
    return this.nodes.filter(({ inputs }) => inputs.includes(name));
  }

  isConstant(name: string): boolean {
    return this.#constants.has(name);
  }

  /** The value of a constant that holds one integer, else `null`. */
  integerOf(name: string): number | null {
    const tensor = this.#constants.get(name);
    return tensor ? singleInteger(fieldsOf(tensor)) : null;
  }

  /** Whether a name is taken by a value of the graph. */
  has(name: string): boolean {
    return (
      this.inputs.includes(name) ||
      this.#constants.has(name) ||
      this.nodes.some(({ outputs }) => outputs.includes(name))
    );
  }

  /** The constant whose data takes most, in bytes, be it in this file or in another; `null` where none has data. */
  largestConstant(): { name: string; bytes: number } | null {
    let largest: { name: string; bytes: number } | null = null;
    for (const [name, tensor] of this.#constants) {
      const bytes = dataSize(fieldsOf(tensor));
      if (bytes > (largest?.bytes ?? 0)) largest = { name, bytes };
    }
    return largest;
  }

  removeNode(node: GraphNode): void {
    this.nodes.splice(this.nodes.indexOf(node), 1);
  }

  /** Adds `node`, of the standard operators, before `next`. */
  insertNode(node: GraphNode, next: GraphNode): void {
    this.nodes.splice(this.nodes.indexOf(next), 0, node);
  }

  /** Has `node` read `to` where it read `from`. */
  rewire(node: GraphNode, from: string, to: string): void {
    node.inputs = node.inputs.map((name) => (name === from ? to : name));
    this.#changed.add(node);
  }

  removeInput(name: string): void {
    this.inputs.splice(this.inputs.indexOf(name), 1);
    this.#removedInputs.add(name);
  }

  /** @param dims the shape: a size, or the name of one that is open */
  addInput(name: string, type: keyof typeof tensorTypes, dims: readonly (number | string)[]): void {
    this.inputs.push(name);
    const shape = dims.map((dim) =>
      contentField(1, [typeof dim === 'number' ? integerField(1, dim) : contentField(2, dim)]),
    );
    const tensor = [integerField(1, tensorTypes[type]), contentField(2, shape)];
    this.#addedInputs.push(
      contentField(graphField.input, [contentField(1, name), contentField(2, [contentField(1, tensor)])]),
    );
  }

  /** The file with all changes. */
  bytes(): Uint8Array<ArrayBuffer> {
    const isRemoved = ({ content }: Field) =>
      this.#removedInputs.has(textOf(fieldsOf(content).find(({ number }) => number === 1)!));
    const rest = this.#graph.filter(
      (field) => field.number !== graphField.node && !(field.number === graphField.input && isRemoved(field)),
    );
    const graph = [
      ...this.nodes.map((node) => this.#nodeBytes(node)),
      ...rest.map(({ whole }) => whole),
      ...this.#addedInputs,
    ];
    const size = graph.reduce((sum, part) => sum + part.length, 0);
    return join(
      this.#model.flatMap((field) =>
        field.number === modelGraph ? [contentHead(modelGraph, size), ...graph] : [field.whole],
      ),
    );
  }

  #nodeBytes(node: GraphNode): Uint8Array {
    const field = this.#wholeNodes.get(node);
    if (field && !this.#changed.has(node)) return field.whole;
    const inputs = node.inputs.map((name) => contentField(nodeField.input, name));
    if (field) {
      const rest = fieldsOf(field.content).filter(({ number }) => number !== nodeField.input);
      return contentField(graphField.node, [...inputs, ...rest.map(({ whole }) => whole)]);
    }
    return contentField(graphField.node, [
      ...inputs,
      ...node.outputs.map((name) => contentField(nodeField.output, name)),
      contentField(nodeField.name, node.name),
      contentField(nodeField.op, node.operator),
      ...[...node.integers].map(([name, value]) =>
        contentField(nodeField.attribute, [
          contentField(attributeField.name, name),
          integerField(attributeField.integer, value),
          // The kind of the attribute: an integer.
          integerField(20, 2),
        ]),
      ),
    ]);
  }

  #readConstant(node: GraphNode, { content }: Field): void {
    for (const attribute of fieldsOf(content)) {
      if (attribute.number !== nodeField.attribute) continue;
      const tensor = fieldsOf(attribute.content).find(({ number }) => number === attributeField.tensor);
      if (tensor) this.#constants.set(node.outputs[0]!, tensor.content);
    }
  }
}

function readNode(content: Uint8Array): GraphNode {
  const node: GraphNode = {
    name: '',
    operator: '',
    inputs: [],
    outputs: [],
    integers: new Map(),
    hasGraphs: false,
  };
  for (const field of fieldsOf(content)) {
    if (field.number === nodeField.input) node.inputs.push(textOf(field));
    else if (field.number === nodeField.output) node.outputs.push(textOf(field));
    else if (field.number === nodeField.name) node.name = textOf(field);
    else if (field.number === nodeField.op) node.operator = textOf(field);
    else if (field.number === nodeField.attribute) {
      const attribute = fieldsOf(field.content);
      const integer = attribute.find(({ number }) => number === attributeField.integer);
      const name = attribute.find(({ number }) => number === attributeField.name);
      node.hasGraphs ||= attribute.some(
        ({ number }) => number === attributeField.graph || number === attributeField.graphs,
      );
      if (integer && name) node.integers.set(textOf(name), integer.integer);
    }
  }
  return node;
}

/** Bytes of a tensor's data; 0 where it is listed number by number, as small ones are. */
function dataSize(tensor: Field[]): number {
  let size = 0;
  for (const { number, content } of tensor) {
    if (number === tensorField.raw) size = content.length;
    if (number !== tensorField.external) continue;
    // A key and a value: of the data in another file, `location`, `offset` and `length`.
    const [key, value] = [1, 2].map((part) => fieldsOf(content).find((field) => field.number === part));
    if (key && value && textOf(key) === 'length') size = Number(textOf(value));
  }
  return size;
}

function singleInteger(tensor: Field[]): number | null {
  const dims = tensor.filter(({ number }) => number === tensorField.dims);
  const type = tensor.find(({ number }) => number === tensorField.type)?.integer;
  if (dims.some(({ integer }) => integer !== 1)) return null;
  const raw = tensor.find(({ number }) => number === tensorField.raw)?.content;
  if (type === tensorTypes.int64) {
    if (raw?.length === 8) return Number(new DataView(raw.buffer, raw.byteOffset).getBigInt64(0, true));
    return listedInteger(tensor.find(({ number }) => number === tensorField.int64s));
  }
  if (type === tensorTypes.int32) {
    if (raw?.length === 4) return new DataView(raw.buffer, raw.byteOffset).getInt32(0, true);
    return listedInteger(tensor.find(({ number }) => number === tensorField.int32s));
  }
  return null;
}

/** A repeated number field with one number, packed or not. */
function listedInteger(field: Field | undefined): number | null {
  if (!field) return null;
  if (field.content.length === 0) return field.integer;
  return fieldsOf(Uint8Array.from([8, ...field.content]))[0]!.integer;
}
