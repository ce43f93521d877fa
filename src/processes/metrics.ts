import type { ChildProcess } from 'node:child_process'
import { AggregatorRegistry, register } from 'prom-client'

/** A worker asks for the figures of all workers; `id` pairs the answer with the question. */
type Question = { type: 'stithy:metrics'; id: number }
type Answer = Question & { text?: string }

const isQuestion = (message: unknown): message is Question =>
  typeof message === 'object' && message !== null && (message as Question).type === 'stithy:metrics'

let registry: AggregatorRegistry<any> | undefined

/** In the primary: adds up the figures of all workers for any of them that asks. */
export function answerMetrics(worker: ChildProcess): void {
  registry ??= new AggregatorRegistry()
  const all = registry
  worker.on('message', async (message) => {
    if (!isQuestion(message)) return
    const text = await all.clusterMetrics().catch(() => undefined)
    if (worker.connected) worker.send({ type: 'stithy:metrics', id: message.id, text }, () => {})
  })
}

const answerWithinMs = 3000

/** In a worker: how to ask. The figures of this worker alone, should the primary not answer. */
export function askForMetrics(): () => Promise<string> {
  // Answers the primary when it collects.
  new AggregatorRegistry()
  let questions = 0
  return () => {
    const id = ++questions
    return new Promise((resolve) => {
      const end = (text: string | Promise<string>) => {
        clearTimeout(late)
        process.off('message', hear)
        resolve(text)
      }
      const hear = (message: Answer) => {
        if (isQuestion(message) && message.id === id) end(message.text ?? register.metrics())
      }
      const late = setTimeout(() => end(register.metrics()), answerWithinMs)
      process.on('message', hear)
      process.send!({ type: 'stithy:metrics', id })
    })
  }
}
