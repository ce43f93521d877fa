import { rm } from 'node:fs/promises'
import { flushCompileCache } from 'node:module'
import { siteAt, sshUrlToRepo } from '../api/site.ts'
import { type Config, uploadsDir } from '../config.ts'
import { credentialsFile } from './credentials.ts'
import { lockDataDir } from './data-dir.ts'
import type { Parts } from './parts.ts'
import { closeToOthers } from './private-files.ts'
import { requireDatabase, requireFreeAddress, requireGit } from './requirements.ts'
import { Service } from './service.ts'
import type { StopRequest, Terminal } from './terminal.ts'

/** Maximum time for running requests and jobs to finish, in ms. */
const graceMs = 10_000

/** Runs Stithy until it is asked to stop. Rejects with a `Failure` if it cannot start, or if a process fails repeatedly. */
export async function serve(config: Config, parts: Parts, terminal: Terminal, stop: StopRequest): Promise<void> {
  using _lock = await lockDataDir(config.dataDir)
  const closed = closeToOthers(config)
  if (closed > 0) terminal.out(`Made ${closed} files and folders private that other users could reach.`)
  // Leftovers of uploads; no process is receiving any yet.
  await rm(uploadsDir(config), { recursive: true, force: true })
  await Promise.all([
    requireGit(),
    requireFreeAddress(config.http),
    config.sshPort > 0 && requireFreeAddress({ host: config.http.host, port: config.sshPort }, 'STITHY_SSH_PORT'),
    config.database.kind === 'external' && requireDatabase(config.database.url),
  ])
  const service = new Service(config, parts, terminal)
  try {
    const started = service.start()
    // A stop during the start makes it reject; that rejection is expected.
    started.catch(() => {})
    const credentials = await Promise.race([started, service.failed, stop.asked])
    if (stop.isAsked()) return
    if (credentials) {
      terminal.out(`The first administrator, stored in ${credentialsFile(config.dataDir)}:`)
      for (const [name, value] of Object.entries(credentials)) terminal.out(`  ${name}: ${value}`)
    }
    terminal.out(readyLine(config))
    flushCompileCache()
    await Promise.race([service.failed, stop.asked])
  } finally {
    await service.stop(graceMs, stop.urgent)
  }
}

const readyLine = ({ externalUrl, sshPort }: Config): string => {
  const address = sshPort === 0 ? '' : `; with an SSH key: ${sshUrlToRepo(siteAt(externalUrl, sshPort), 'root/hello')}`
  return `Stithy is ready at ${externalUrl} (to push: git push ${externalUrl}/root/hello.git main${address})`
}
