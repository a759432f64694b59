export function licencesDocument(): string;
