import { existsSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { flushCompileCache } from 'node:module'
import { siteAt, sshUrlToRepo } from '../api/site.ts'
import { readSecret } from '../backup/store/secret.ts'
import { type Config, sharedFetchesDir, uploadsDir } from '../config.ts'
import type { Credentials } from './app-module.ts'
import { BackupSchedule, startBackup } from './backup-schedule.ts'
import { credentialsFile } from './credentials.ts'
import { lockDataDir } from './data-dir.ts'
import type { Parts } from './parts.ts'
import { closeToOthers } from './private-files.ts'
import { requireDatabase, requireFreeAddress, requireGit } from './requirements.ts'
import { Service } from './service.ts'
import { type Notices, noticesOn, type StopRequest, type Terminal } from './terminal.ts'

/** Maximum time for running requests and jobs to finish, in ms. */
const graceMs = 10_000

/** Runs Stithy until it is asked to stop. Rejects with a `Failure` if it cannot start, or if a process fails repeatedly. */
export async function serve(config: Config, parts: Parts, terminal: Terminal, stop: StopRequest): Promise<void> {
  const notices = noticesOn(terminal)
  using _lock = await lockDataDir(config.dataDir)
  const { uid } = statSync(config.dataDir)
  if (uid !== 0 && process.geteuid?.() === 0)
    notices.say(
      `${config.dataDir} belongs to user ${uid}, who cannot use what root creates there: start Stithy as user ${uid}.`,
    )
  const closed = closeToOthers(config)
  if (closed > 0) notices.say(`Made ${closed} files and folders private that other users could reach.`)
  // Leftovers of uploads and fetches; no process is handling any yet.
  for (const folder of [uploadsDir(config), sharedFetchesDir(config)])
    await rm(folder, { recursive: true, force: true })
  await Promise.all([
    requireGit(),
    requireFreeAddress(config.http),
    config.sshPort > 0 && requireFreeAddress({ host: config.http.host, port: config.sshPort }, 'STITHY_SSH_PORT'),
    config.database.kind === 'external' && requireDatabase(config.database.url),
    // Otherwise the next scheduled backup says so, at night.
    config.backup.keyFile !== undefined && readSecret(config.backup.keyFile),
  ])
  const service = new Service(config, parts, { terminal, notices })
  try {
    const started = service.start()
    // A stop during the start makes it reject; that rejection is expected.
    started.catch(() => {})
    const made = await Promise.race([started, service.failed, stop.asked])
    if (stop.isAsked()) return
    const credentials = made ? made : undefined
    if (terminal.isInteractive) welcome(config, credentials).forEach(terminal.out)
    else announce(notices, config, credentials)
    flushCompileCache()
    const { say } = notices
    await using _backups = new BackupSchedule({ at: config.backup.at, start: () => startBackup(say), say })
    await Promise.race([service.failed, stop.asked])
  } finally {
    await service.stop(graceMs, stop.urgent)
  }
}

/** For programs that read the log. */
function announce(notices: Notices, config: Config, credentials: Credentials | undefined): void {
  const { dataDir, externalUrl, sshPort } = config
  const file = credentialsFile(dataDir)
  if (credentials) notices.say(`The first administrator, stored in ${file}`, { ...credentials })
  const ssh = sshPort === 0 ? '' : `; with an SSH key: ${sshUrlToRepo(siteAt(externalUrl, sshPort), 'root/hello')}`
  notices.say(`Stithy is ready at ${externalUrl} (to push: git push ${externalUrl}/root/hello.git main${ssh})`, {
    url: externalUrl,
    data_dir: dataDir,
  })
}

/** For a user at a terminal: where everything is, and what to do next. The credentials only at the first start. */
function welcome({ dataDir, externalUrl, sshPort }: Config, credentials: Credentials | undefined): string[] {
  const file = credentialsFile(dataDir)
  const ssh = sshPort === 0 ? [] : [`  Push by SSH  ${sshUrlToRepo(siteAt(externalUrl, sshPort), 'root/hello')}`]
  const account = credentials
    ? [
        `  Sign in      as ${credentials.username} with the password ${credentials.password}`,
        `               or, for git and the API, the token ${credentials.token}`,
        `               (both are stored in ${file})`,
      ]
    : existsSync(file)
      ? [`  Sign in      as root; password and token are in ${file}`]
      : []
  return [
    `Stithy is ready at ${externalUrl}`,
    '',
    ...account,
    `  Push         git push ${externalUrl}/root/hello.git main`,
    ...ssh,
    `  API          ${externalUrl}/-/docs`,
    `  Data         ${dataDir}`,
    '  Stop         press Ctrl-C',
    '',
  ]
}
