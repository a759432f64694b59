/** IEEE 754 half-precision values, as bits, to float32. */
export function widenHalf(bits: Uint16Array, target: Float32Array): void {
  for (let index = 0; index < bits.length; index++) {
    const half = bits[index]!;
    const exponent = (half >> 10) & 0x1f;
    const fraction = half & 0x3ff;
    const sign = half & 0x8000 ? -1 : 1;
    if (exponent === 0x1f) target[index] = fraction ? Number.NaN : sign * Infinity;
    else if (exponent === 0) target[index] = sign * fraction * 2 ** -24;
    else target[index] = sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  }
}
