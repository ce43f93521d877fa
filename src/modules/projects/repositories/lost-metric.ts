import { Gauge } from 'prom-client'
import { namesIn } from '../../../kernel/missing.ts'
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
    const names = observed === undefined ? [] : await namesIn(observed).catch(() => undefined)
    // Without a value, it is unknown.
    if (names) this.set(names.length)
    else this.remove()
  },
})
