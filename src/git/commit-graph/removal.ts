import { rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Whether git failed because the content of a commit-graph is damaged. It tolerates a file that it cannot open as one. */
export const saysBrokenGraph = (stderr: string): boolean =>
  /^fatal: (?:invalid parent position|invalid commit position|commit-graph requires overflow)/m.test(stderr)

/** Removes the commit-graph, which only makes reading faster: maintenance writes it again. */
export async function removeGraph(gitDir: string): Promise<void> {
  const info = join(gitDir, 'objects/info')
  await rm(join(info, 'commit-graph'), { force: true })
  await rm(join(info, 'commit-graphs'), { recursive: true, force: true })
}
