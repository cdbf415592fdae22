// A set that holds the most recently added ids, up to a limit.

export class RecentIds {
  readonly #ids = new Set<string>()
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  has(id: string): boolean {
    return this.#ids.has(id)
  }

  add(id: string): void {
    this.#ids.delete(id)
    this.#ids.add(id)
    if (this.#ids.size > this.#most) this.#ids.delete(this.#ids.values().next().value!)
  }
}
