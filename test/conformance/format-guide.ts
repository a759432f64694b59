/** The guide to a new format, around an example that the tests run. */
export const formatGuide = (example: string): string => `## Add a format in 15 minutes

A format is data: which markers a family writes, what each of them means in each state, how arguments are encoded. The machine in \`src/parser\` runs it; it knows no model.

1. Read the model's chat template: it shows what stands around calls and thoughts, and the added tokens show which of these markers are tokens of their own (\`required\`, \`optional\`, or \`never\` where the model spells them in ordinary tokens). Go by the published template, whole, with the model's own vocabulary: its history code, examples and comments hold markers of other families, which no excerpt shows.
2. Write one file in \`src/formats\`. Most families have a shape that exists: \`shapes/think-tags\` (reasoning between two tags), \`shapes/tagged-json\` (JSON behind a marker), \`shapes/xml-parameters\`, \`shapes/key-values\`, \`shapes/python-calls\`, \`shapes/delimited-calls\`, \`shapes/bare-json\`. \`recognise\` says whether a chat template is this family's and no other's; \`writing\` says how calls are written, for the grammar, and \`answer\` which tags stand around an answer, where the family has some.
3. Add one line to the registry in \`src/formats/index.ts\`.
4. Say in \`test/conformance/writers.ts\` how the family writes thoughts and calls: the kinds of cases that every family has are made from it. Write its own in \`test/conformance/cases\`: what the model really writes, and what should come of it. Run them with \`npm run replay -- FILE\`, and its grammar against its parser with \`npm run agree -- --format NAME\`.
5. Add an excerpt of the template to \`test/fixtures/templates\`, the models to \`test/conformance/format-models.ts\`, and the format to the lists of \`test/unit/formats/recognition.test.ts\` and \`test/unit/parser/properties.test.ts\`. Load the model once as it is published: \`recogniseFormat\` must find the format in the whole template, not only in the excerpt. Run \`npm run formats\`.

An invented family, Acorn, as an example. It thinks between \`<ponder>\` and \`</ponder>\`, and calls functions like this:

\`\`\`
<call>water_plants(
room: kitchen
litres: 2
)</call>
\`\`\`

No shape fits, so the file has states of its own:

\`\`\`ts
${example.trim()}
\`\`\`

What opens a call is *held* from its marker on: kept back until the name has shown that it is a call, and given out as text if it was none. Nothing else has to be looked ahead for, and the result is the same for every way to cut the stream.`;
