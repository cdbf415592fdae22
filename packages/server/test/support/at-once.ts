// Does work that is made of steps without a pause between them.
export function atOnce<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}
