/**
 * The chunks of a body; the memory of each is freed as soon as the next one is requested, so that the reader must not use it any longer.
 * The collector of memory would run dozens of times for a body of some hundred megabytes, which costs more than receiving it.
 */
export async function* freedChunks(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const chunks = body[Symbol.asyncIterator]()
  try {
    for (;;) {
      const { done, value } = await chunks.next()
      if (done) return
      yield value
      // Small ones may be parts of memory that others use.
      if (value.buffer.byteLength === value.length) (value.buffer as ArrayBuffer).transfer(0)
    }
  } finally {
    await chunks.return?.()
  }
}
