/** Questions that the embedded model answers well, one for each thing it can do. */
export const examples = [
  "What's the weather in Paris and Tokyo?",
  'What is 23 * 19?',
  'Convert 20 km to miles',
  'What time is it in Oslo?',
  'Add a note: buy milk, tagged shopping',
  'Search my notes for milk',
  'Look up the weather in Berlin and save it as a note',
  'Set a timer for 10 minutes',
];
