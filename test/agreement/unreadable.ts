/** The output is not as the family writes it. */
export class UnreadableError extends Error {}
