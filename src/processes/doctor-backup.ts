import { type LastBackup, periodOf, readLastBackup } from '../backup/last-backup.ts'
import { readSecret } from '../backup/store/secret.ts'
import type { Config } from '../config.ts'
import { counted } from '../kernel/amounts.ts'
import { type Finding, findings } from './doctor-finding.ts'
import { explain } from './explain.ts'

const backups = findings('Backup')

const hourMs = 60 * 60_000

const ago = (ms: number): string =>
  ms < 2 * hourMs ? `${Math.max(0, Math.round(ms / 60_000))} minutes` : `${Math.round(ms / hourMs)} hours`

/** Whether the key can be read, and the last backups succeeded, in time if the service makes them on a schedule. Reads only files. */
export async function checkBackup(
  { dataDir, backup }: Pick<Config, 'dataDir' | 'backup'>,
  now = new Date(),
): Promise<Finding[]> {
  return (await findKey(backup.keyFile)) ?? findingsOf(await readLastBackup(dataDir, backup.url), backup.at, now)
}

async function findKey(file: string | undefined): Promise<Finding[] | undefined> {
  try {
    if (file !== undefined) await readSecret(file)
    return undefined
  } catch (error) {
    const advice = 'Let the user of the service read a key in STITHY_BACKUP_KEY_FILE: no backup can be made without it.'
    return [backups.failed(explain(error).sentence.replace(/\.$/, ''), advice)]
  }
}

/** `at` are the times of day of the schedule, in minutes after midnight. */
export function findingsOf(last: LastBackup | undefined, at: readonly number[], now: Date): Finding[] {
  const success = last?.success
  const age = success && now.getTime() - Date.parse(success.ended_at)
  const found: Finding[] = []
  if (last?.result === 'failed')
    found.push(
      backups.warning(
        `the last one, of ${last.ended_at}, failed: ${last.reason ?? 'the log has the reason'}`,
        'Remove the cause and run: stithy backup',
      ),
    )
  if (last?.result === 'with_problems')
    found.push(
      backups.warning(
        `the last one, of ${last.ended_at}, has ${success ? counted(success.problems, 'problem') : 'some problems'}`,
        'Run stithy check, which names what is missing or damaged, and then: stithy backup',
      ),
    )
  if (at.length > 0 && (age === undefined || age > 2 * periodOf(at)))
    found.push(
      backups.warning(
        age === undefined
          ? 'STITHY_BACKUP_AT is set, and no backup has succeeded yet'
          : `STITHY_BACKUP_AT is set, and the last one that succeeded ended ${ago(age)} ago`,
        'Look for the reason in the log of the service, and run: stithy backup',
      ),
    )
  if (found.length > 0) return found
  if (success === undefined || age === undefined)
    return [backups.ok('none is made by schedule (STITHY_BACKUP_AT), and none has been made here')]
  return [backups.ok(`the last one ended ${ago(age)} ago, took ${Math.round(success.seconds)} s`)]
}
