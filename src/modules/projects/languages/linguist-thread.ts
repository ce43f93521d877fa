import { parentPort } from 'node:worker_threads'
import linguist from 'linguist-js'
import type { Answer, Batch } from './linguist.ts'
import { parseDataOnce } from './linguist-data.ts'

/**
 * Data and patterns of GitHub's linguist, in a worker thread: they take tens of megabytes, and catastrophic
 * backtracking on a file must not block other work. Each message is a batch, each response its answer.
 */

parseDataOnce()
parentPort!.on('message', async (batch: Batch) => {
  parentPort!.postMessage(await answerTo(batch))
})

async function answerTo({ files, keepVendored, weighsContent }: Batch): Promise<Answer> {
  const { files: found, languages } = await linguist(
    files.map(({ path }) => path),
    {
      fileContent: files.map(({ content }) => content ?? ''),
      offline: true,
      calculateLines: false,
      keepVendored,
      checkHeuristics: weighsContent,
    },
  )
  return {
    files: files.map(({ path }) => {
      const language = found.results[path]
      // Excluded by its name: vendored, documentation, generated or binary.
      if (language === undefined) return undefined
      return { language, others: found.alternatives[path] ?? [] }
    }),
    types: Object.fromEntries(Object.entries(languages.results).map(([name, { type }]) => [name, type])),
  }
}
