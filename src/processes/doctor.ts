import type { Config } from '../config.ts'
import { ConfigError } from '../environment.ts'
import { holderOf } from './data-dir.ts'
import { checkBackup } from './doctor-backup.ts'
import { checkBlobs } from './doctor-blobs.ts'
import { checkDataFolder } from './doctor-data-folder.ts'
import { checkDatabase } from './doctor-database.ts'
import { type Finding, findings, linesOf } from './doctor-finding.ts'
import { checkGit } from './doctor-git.ts'
import { checkMail } from './doctor-mail.ts'
import { checkAddress, checkPorts } from './doctor-network.ts'
import { explain } from './explain.ts'
import type { Parts } from './parts.ts'
import type { Terminal } from './terminal.ts'

const settings = findings('Settings')

/** What the command line passes. `mailTo`: recipient of a test mail. */
export type DoctorOptions = {
  readonly config: () => Config
  readonly parts: Parts
  readonly terminal: Terminal
  readonly mailTo: string | undefined
}

/** Checks the installation and prints each finding. Returns the exit code: 1 if anything failed, 2 if it is the settings. Changes nothing. */
export async function doctor({ config: read, parts, terminal, mailTo }: DoctorOptions): Promise<number> {
  const all: Finding[] = []
  const report = (found: readonly Finding[]) => {
    all.push(...found)
    found.flatMap(linesOf).forEach(terminal.out)
  }
  const config = settingsOf(read, report)
  if (config === undefined) report(await checkGit())
  else {
    // Without permissions on the folder, of which the checks report.
    const isRunning = (await holderOf(config.dataDir).catch(() => undefined)) !== undefined
    // One after the other: the database is started for its check, and the lines have a fixed order.
    const checks: readonly (readonly [subject: string, check: () => Promise<Finding[]>])[] = [
      ['Git', () => checkGit()],
      ['Data folder', () => checkDataFolder(config)],
      ['Database', () => checkDatabase(config, parts, terminal)],
      ['Blobs', () => checkBlobs(config, parts, terminal)],
      ['Backup', () => checkBackup(config)],
      ['Ports', () => checkPorts(config, isRunning)],
      ['Address', () => checkAddress(config, isRunning)],
      ['Mail', () => checkMail(config, mailTo)],
    ]
    for (const [subject, check] of checks) report(await check().catch((error: unknown) => [impossible(subject, error)]))
  }
  const count = (level: Finding['level']) => all.filter((each) => each.level === level).length
  const warnings = count('warning')
  terminal.out(`${count('ok')} ok, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}, ${count('failed')} failed`)
  return config === undefined ? 2 : count('failed') > 0 ? 1 : 0
}

/** A check that cannot be made, for lack of permissions for example. The others go on. */
function impossible(subject: string, error: unknown): Finding {
  const { sentence, expected } = explain(error)
  if (!expected) throw error
  return findings(subject).failed(sentence.replace(/\.$/, ''), 'Run this command as the user of the service.')
}

/** The settings; undefined if they are invalid. Reports either. */
function settingsOf(read: () => Config, report: (found: readonly Finding[]) => void): Config | undefined {
  try {
    const config = read()
    report([settings.ok('valid')])
    return config
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    report(error.mistakes.map((mistake) => settings.failed(mistake, 'Correct this environment variable.')))
    return undefined
  }
}
