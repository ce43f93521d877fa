/** An answer in memory, with the headers that belong to it rather than to the exchange. */
export type Rendered = {
  readonly status: number
  readonly headers: Readonly<Record<string, string | number>>
  readonly body: Buffer | undefined
}
