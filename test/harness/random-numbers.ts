// Numbers for tests that change things at random: the same ones in every run.

/** Answers whole numbers below the one that it is given, as its seed has them. */
export function numbersFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    // The low bits of such a generator repeat soon, so that numbers are made of the high ones (Knuth, TAOCP 2, 3.2.1.1).
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
