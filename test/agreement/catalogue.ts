/** Tools in the style of public catalogues. */
export interface Tool {
  name: string;
  parameters: Record<string, unknown>;
}

const text = { type: 'string' };
const object = (
  properties: Record<string, unknown>,
  required: string[] = Object.keys(properties),
  more: object = {},
) => ({
  type: 'object',
  properties,
  required,
  ...more,
});

export const CATALOGUE: readonly Tool[] = [
  {
    name: 'get_weather',
    parameters: object({ city: text, unit: { type: 'string', enum: ['celsius', 'fahrenheit'] } }, ['city']),
  },
  { name: 'get_current_time', parameters: { type: 'object', properties: {}, additionalProperties: false } },
  {
    name: 'send_email',
    parameters: object(
      {
        to: { type: 'array', items: { type: 'string', format: 'email' }, minItems: 1, maxItems: 3 },
        subject: { type: 'string', maxLength: 60 },
        body: text,
        is_html: { type: 'boolean', default: false },
      },
      ['to', 'subject', 'body'],
      { additionalProperties: false },
    ),
  },
  {
    name: 'calendar.create-event',
    parameters: object(
      {
        title: { type: 'string', minLength: 1 },
        start: { type: 'string', format: 'date-time' },
        day: { type: 'string', format: 'date' },
        duration_minutes: { type: 'integer', minimum: 5, maximum: 1440 },
        attendees: {
          type: 'array',
          items: object({ name: text, role: { enum: ['host', 'guest', null] } }, ['name']),
        },
        recurrence: { anyOf: [{ type: 'null' }, object({ every: { type: 'integer', minimum: 1 } })] },
      },
      ['title', 'start'],
    ),
  },
  {
    name: 'edit_file',
    parameters: object(
      {
        path: { type: 'string', pattern: '^/[a-z]+' },
        old_text: text,
        new_text: text,
        line: { type: 'integer' },
      },
      ['path', 'old_text', 'new_text'],
    ),
  },
  {
    name: 'run_python',
    parameters: object({ code: text, timeout: { type: 'number', exclusiveMinimum: 0 } }, ['code']),
  },
  {
    name: 'query_database',
    parameters: object(
      {
        table: { type: 'string', enum: ['users', 'orders', 'order "items"', 'größen'] },
        filters: {
          type: 'array',
          items: object({
            column: text,
            operator: { const: '>=' },
            value: { type: ['string', 'number', 'boolean', 'null'] },
          }),
          maxItems: 2,
        },
        limit: { type: 'integer', minimum: 1, maximum: 1000 },
      },
      ['table'],
    ),
  },
  {
    name: 'http_request',
    parameters: object(
      {
        url: { type: 'string', format: 'uri' },
        method: { type: 'string', enum: ['GET', 'POST'] },
        headers: { type: 'object', additionalProperties: { type: 'string' } },
        body: {},
      },
      ['url'],
    ),
  },
  {
    name: 'book_flight',
    parameters: object(
      {
        legs: {
          type: 'array',
          minItems: 1,
          maxItems: 2,
          items: { $ref: '#/$defs/leg' },
        },
        passengers: { type: 'integer', minimum: 1, maximum: 9 },
        class: { type: ['string', 'null'], enum: ['economy', 'business', null] },
      },
      ['legs', 'passengers'],
      {
        $defs: {
          airport: { type: 'string', pattern: '^[A-Z]{3}$' },
          leg: object({ from: { $ref: '#/$defs/airport' }, to: { $ref: '#/$defs/airport' } }),
        },
      },
    ),
  },
  {
    name: 'save_tree',
    parameters: object({ root: { $ref: '#/$defs/node' } }, ['root'], {
      $defs: {
        node: object(
          { label: text, children: { type: 'array', items: { $ref: '#/$defs/node' } } },
          ['label'],
          {
            additionalProperties: false,
          },
        ),
      },
    }),
  },
  {
    name: 'set_light',
    parameters: object(
      {
        room: text,
        brightness: { type: 'number', minimum: 0, maximum: 1 },
        hue: { type: 'integer', multipleOf: 5, minimum: 0, maximum: 360 },
        on: { type: 'boolean' },
      },
      ['room', 'on'],
    ),
  },
  {
    name: 'functions/lookup',
    parameters: object({ id: { type: 'string', format: 'uuid' }, tags: { type: 'array', items: text } }, [
      'id',
    ]),
  },
];
