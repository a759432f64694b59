/** Schemas to begin with, and what to ask for. */
export const formExamples = [
  {
    name: 'Weather report',
    prompt: 'What is the weather in Paris?',
    schema: {
      type: 'object',
      properties: {
        city: { type: 'string', title: 'City', maxLength: 20 },
        degrees: { type: 'integer', title: 'Degrees', minimum: -30, maximum: 45 },
        unit: { enum: ['celsius', 'fahrenheit'], title: 'Unit' },
        rain: { type: 'boolean', title: 'Rain' },
      },
      required: ['city', 'degrees', 'unit', 'rain'],
      additionalProperties: false,
    },
  },
  {
    name: 'Contact',
    prompt: 'Write down Ada Lovelace of London as a contact.',
    schema: {
      type: 'object',
      properties: {
        name: { type: 'string', title: 'Name', minLength: 1, maxLength: 30 },
        email: { type: 'string', title: 'E-mail', format: 'email', maxLength: 30 },
        born: { type: 'string', title: 'Born', format: 'date' },
        tags: { type: 'array', title: 'Tags', items: { type: 'string', maxLength: 12 }, maxItems: 3 },
      },
      required: ['name', 'email', 'born', 'tags'],
      additionalProperties: false,
    },
  },
];
