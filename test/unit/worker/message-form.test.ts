import { describe, expect, it } from 'vitest';
import { formMessages, messageForm } from '../../../worker/prompt/messages.ts';

describe('what a template reads of a message', () => {
  const reads: [string, ReturnType<typeof messageForm>['reasoning']][] = [
    ['{% if message.reasoning_content is string %}', 'field'],
    ["{{ message.get('reasoning_content', '') }}", 'field'],
    ["{{ message['reasoning'] }}", 'field'],
    ['{% if "thinking" in message %}{{ message.thinking }}', 'field'],
    ["{{ message['thinking'] | trim }}", 'field'],
    ["{% if block['type'] == 'thinking' %}{{ block['thinking'] }}", 'blocks'],
    ['{% if part.type == "thinking" %}{{ part.thinking }}', 'blocks'],
    ["{{ message.reasoning_content }}{% if item['type'] == 'thinking' %}", 'field'],
    ["{{ content.split('</think>')[-1] }}", 'tags'],
    ['{% set thinking = thinking is defined and thinking %}{{ message.content }}', 'none'],
    ['{# message.reasoning_content </think> #}{{ message.content }}', 'none'],
    [
      "{% if message.content and message.thinking %}{{ raise_exception('one') }}{% endif %}",
      'field-or-content',
    ],
  ];
  it.each(reads)('%s', (template, form) => {
    expect(messageForm(template).reasoning).toBe(form);
  });

  it.each([
    ["{% if message['content'] is none %}", true],
    ['{% if message.content is not none %}', true],
    ['{% if content == none %}', true],
    ['{% if message.content %}', false],
    ['{% if message.reasoning_content is not none %}', false],
  ])('%s', (template, asks) => {
    expect(messageForm(template).asksForNull).toBe(asks);
  });

  it('a content of null is empty for a template that does not ask for null', () => {
    const messages = [{ role: 'assistant', content: null }];
    const form = { reasoning: 'none' as const, asksForNull: false };
    expect(formMessages(messages, form)).toEqual([{ role: 'assistant', content: '' }]);
    expect(formMessages(messages, { ...form, asksForNull: true })).toEqual(messages);
  });
});
