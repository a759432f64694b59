/** For each number of first characters the most, but fewer, that they end with too. */
export function bordersOf(text: readonly unknown[]): number[] {
  const borders = [0, 0];
  for (let length = 2; length <= text.length; length++) {
    let border = borders[length - 1]!;
    while (border > 0 && text[border] !== text[length - 1]) border = borders[border]!;
    borders.push(text[border] === text[length - 1] ? border + 1 : 0);
  }
  return borders;
}
