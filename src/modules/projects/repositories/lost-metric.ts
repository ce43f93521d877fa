import { readdir } from 'node:fs/promises'
import { Gauge } from 'prom-client'
import { lostAndFound } from './location.ts'

let observed: string | undefined

/** Sets the folder that the gauge of `/-/metrics` counts. */
export function observeLostAndFound(repositoriesDir: string): void {
  observed = lostAndFound(repositoriesDir)
}

// All workers see the same folder, so any value, such as the maximum, is right.
new Gauge({
  name: 'stithy_repositories_lost_and_found',
  help: 'Repositories that were in the place of a project and not its own, and wait for an operator in lost+found',
  aggregator: 'max',
  async collect() {
    const names = observed === undefined ? [] : await readdir(observed).catch(() => [])
    this.set(names.length)
  },
})
