import { parentPort } from 'node:worker_threads'
import { TooComplex } from './limits.ts'
import { render } from './render.ts'
import type { MarkdownDocument, Rendered } from './types.ts'

/** One document after the other, because hostile ones may take any time and memory. Each message is a document, each answer its HTML. */

export type FromThread = { readonly rendered: Rendered } | { readonly refused: 'too complex' | 'failed' } | 'ready'

/** The stack is small: elements at a depth below the limit fit into it, and arguments of a library that recurses may not. */
const answerTo = (document: MarkdownDocument): FromThread => {
  try {
    return { rendered: render(document) }
  } catch (error) {
    return { refused: error instanceof TooComplex || error instanceof RangeError ? 'too complex' : 'failed' }
  }
}

parentPort!.on('message', (document: MarkdownDocument) => parentPort!.postMessage(answerTo(document)))
parentPort!.postMessage('ready' satisfies FromThread)
