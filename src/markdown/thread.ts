import { parentPort } from 'node:worker_threads'
import { TooComplex } from './limits.ts'
import { render } from './render.ts'
import type { MarkdownDocument, Rendered } from './types.ts'

/** One document after the other, because hostile ones may take any time and memory. Each message is a document, each answer its HTML. */

export type FromThread = { readonly rendered: Rendered } | { readonly refused: string } | 'ready'

/** A stack that overflows in a library is a limit like others: its input is deeper than it can read. */
const answerTo = (document: MarkdownDocument): FromThread => {
  try {
    return { rendered: render(document) }
  } catch (error) {
    const isLimit = error instanceof TooComplex || error instanceof RangeError
    // The message of another error may have parts of the text.
    return { refused: isLimit ? 'too complex' : `failed: ${error instanceof Error ? error.name : 'unknown'}` }
  }
}

parentPort!.on('message', (document: MarkdownDocument) => parentPort!.postMessage(answerTo(document)))
parentPort!.postMessage('ready' satisfies FromThread)
