import type { ChildProcess } from 'node:child_process'
import { AggregatorRegistry, register } from 'prom-client'

/** A worker's request for the metrics of all workers; `id` pairs response and request. */
type Question = { type: 'stithy:metrics'; id: number }
type Answer = Question & { text?: string }

const isQuestion = (message: unknown): message is Question =>
  typeof message === 'object' && message !== null && (message as Question).type === 'stithy:metrics'

let registry: AggregatorRegistry<any> | undefined

/** In the primary: sends a worker the aggregated metrics of all workers on request. */
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

/**
 * In a worker: returns a function that requests the aggregated metrics. Falls back to the metrics of this worker if the primary
 * does not respond.
 */
export function askForMetrics(): () => Promise<string> {
  // Responds to the primary's collection.
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
