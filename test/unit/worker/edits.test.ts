import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { editModel } from '../../../worker/backends/onnx/edits.ts';
import { ModelFile } from '../../../worker/backends/onnx/model-file.ts';
import { contentField, fieldsOf, integerField, join } from '../../../worker/backends/onnx/protobuf.ts';
import { tinyFolder } from './models.ts';

const original = new Uint8Array(readFileSync(new URL('onnx/model_q4.onnx', tinyFolder)));

/** The embedded model after `change`, as a file. */
const changed = (change: (file: ModelFile) => void) => {
  const file = new ModelFile(original);
  change(file);
  return file.bytes();
};

const node = (operator: string, inputs: string[], output: string) => ({
  name: output,
  operator,
  inputs,
  outputs: [output],
  integers: new Map<string, number>(),
  hasGraphs: false,
});

describe('protocol buffers', () => {
  it('give back what was written, numbers beyond 32 bits and below 0 too', () => {
    const message = join([
      integerField(1, 300),
      integerField(2, 2 ** 40 + 5),
      integerField(2, -1),
      contentField(3, 'π'),
      contentField(400, [integerField(1, 7)]),
    ]);
    const fields = fieldsOf(message);
    expect(fields.map(({ number, integer }) => [number, integer])).toEqual([
      [1, 300],
      [2, 2 ** 40 + 5],
      [2, -1],
      [3, 0],
      [400, 0],
    ]);
    expect(new TextDecoder().decode(fields[3]!.content)).toBe('π');
    expect(fieldsOf(fields[4]!.content)[0]!.integer).toBe(7);
    expect(join(fields.map(({ whole }) => whole))).toEqual(message);
  });

  it('that end too early are named so', () => {
    const message = contentField(3, 'abc');
    expect(() => fieldsOf(message.subarray(0, 3))).toThrow(/ends within a field/);
    expect(() => fieldsOf(Uint8Array.of(0x08, 0x80))).toThrow(/ends within a number/);
    expect(() => fieldsOf(Uint8Array.of(0x0b))).toThrow(/wire type 3/);
    // A length of -11, which leads back to its own beginning.
    const back = Uint8Array.of(0x0a, 0xf5, ...Array<number>(8).fill(0xff), 0x01);
    expect(() => fieldsOf(back)).toThrow(/negative length/);
    const endless = new Uint8Array(1000).fill(0x80);
    expect(() => fieldsOf(endless)).toThrow(/more than 64 bits/);
  });
});

describe('edits of the model file', () => {
  it('an unchanged file keeps its bytes but for the order of the fields', () => {
    const rewritten = new ModelFile(original).bytes();
    expect(rewritten.length).toBe(original.length);
    expect(new ModelFile(rewritten).nodes).toEqual(new ModelFile(original).nodes);
  });

  it('select rows of logits and take the lengths in place of the mask', () => {
    const { model, edits, largest } = editModel(original);
    // The embedding: 2048 tokens, 192 values of four bytes.
    expect(largest).toEqual({ name: 'model.embed_tokens.weight', bytes: 2048 * 192 * 4 });
    expect(edits).toEqual({
      rows: 'logit_rows',
      lengths: { last: 'last_token', total: 'total_tokens' },
      unused: ['position_ids'],
      sharesCache: true,
      skipped: [],
    });
    const file = new ModelFile(model);
    const inputs = file.inputs.filter((name) => !name.startsWith('past_key_values'));
    expect(inputs).toEqual(['input_ids', 'logit_rows', 'last_token', 'total_tokens']);
    expect(file.producerOf(file.producerOf('logits')!.inputs[0]!)).toMatchObject({
      operator: 'Gather',
      inputs: ['final_norm', 'logit_rows'],
      integers: new Map([['axis', 1]]),
    });
    expect(file.consumersOf('last_token').map(({ operator }) => operator)).toEqual(
      new Array(6).fill('GroupQueryAttention'),
    );
    const operators = new Set(file.nodes.map(({ operator }) => operator));
    for (const gone of ['ReduceSum', 'Sub', 'Cast', 'Shape']) expect(operators).not.toContain(gone);
  });

  it('leave positions that a node reads', () => {
    const reader = changed((file) =>
      file.insertNode(node('Neg', ['position_ids'], 'negative'), file.nodes[0]!),
    );
    const { model, edits } = editModel(reader);
    expect(edits.unused).toEqual([]);
    expect(new ModelFile(model).inputs).toContain('position_ids');
  });

  it('leave a mask that something else reads', () => {
    const reader = changed((file) =>
      file.insertNode(node('Neg', ['attention_mask'], 'negative'), file.nodes[0]!),
    );
    const { model, edits } = editModel(reader);
    expect(edits).toMatchObject({ rows: 'logit_rows', lengths: null, sharesCache: true });
    expect(edits.skipped).toEqual(['attention mask: other nodes read the mask']);
    expect(new ModelFile(model).inputs).toContain('attention_mask');
  });

  it('leave lengths that are made in another way, and names that are taken', () => {
    const other = changed((file) => {
      const subtract = file.nodes.find(({ operator }) => operator === 'Sub')!;
      file.rewire(subtract, 'one', 'idx2');
      file.insertNode(node('Neg', ['input_ids'], 'logit_rows'), file.nodes[0]!);
    });
    expect(editModel(other).edits).toMatchObject({
      rows: 'logit_rows_2',
      skipped: ['attention mask: the lengths are made in another way'],
    });
  });

  it('leave logits that come from elsewhere than a projection', () => {
    const other = changed((file) => {
      const projection = file.producerOf('logits')!;
      projection.outputs[0] = 'scores';
      file.insertNode(node('Softmax', ['scores'], 'logits'), projection);
    });
    expect(editModel(other).edits).toMatchObject({
      rows: null,
      skipped: ['rows of logits: they come from Softmax'],
    });
  });

  it('see attention that does not append in place', () => {
    const other = changed((file) => {
      const attention = file.nodes.find(({ operator }) => operator === 'GroupQueryAttention')!;
      file.rewire(attention, 'past_key_values.0.key', 'longer_key');
      file.insertNode(node('Identity', ['past_key_values.0.key'], 'longer_key'), attention);
    });
    expect(editModel(other).edits.sharesCache).toBe(false);
  });

  it('leave what is no model to the runtime', () => {
    const page = new TextEncoder().encode('<!doctype html>');
    expect(editModel(page).model).toBe(page);
    expect(editModel(page).edits.skipped).toHaveLength(1);
  });
});
