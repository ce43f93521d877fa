import { parentPort } from 'node:worker_threads'
import linguist from 'linguist-js'
import type { Answer, Batch } from './linguist.ts'

/*
 * The data and patterns of GitHub's linguist, in a thread of their own: they take tens of megabytes, and a pattern that runs
 * wild over somebody's file must not stop anybody else. One batch in, one answer out.
 */

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
      // Vendored, documentation, generated or binary by its name.
      if (language === undefined) return undefined
      return { language, others: found.alternatives[path] ?? [] }
    }),
    types: Object.fromEntries(Object.entries(languages.results).map(([name, { type }]) => [name, type])),
  }
}
