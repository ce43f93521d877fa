import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Type } from 'typebox'
import { visibilities } from '../../../access/levels.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { enqueue, job } from '../../../jobs/job.ts'
import {
  endInFailure,
  type Filling,
  fillRepository,
  findImportState,
  type Place,
  RemoteRefusal,
  remoteLimits,
  saveImportReport,
} from '../../lifecycle/index.ts'
import { importStarted } from '../../projects/index.ts'
import { ArchiveRefusal } from '../archive/refusal.ts'
import { inWorkFolder, removeWorkFolder } from '../archive/work-folder.ts'
import { importProject, type Prepared, relationsFor } from '../imports/import-project.ts'
import { permitted, refusing, stillPermitted } from '../imports/jobs.ts'
import { matched } from '../imports/open-archive.ts'
import { checkRecords } from '../imports/own-records.ts'
import { withBranchesOfForks } from '../imports/repositories.ts'
import { tellRequester } from '../mails/mails.ts'
import type { Resource } from './adapter.ts'
import { type Access, ForgeBusy, ForgeDenial, getJson } from './client.ts'
import { collect } from './collect.ts'
import { fetchCode, fetchWiki } from './fetch.ts'
import type { ForgeRepository } from './items.ts'
import { adapters } from './kinds.ts'
import { PageFiles, projectsWithPages } from './pages.ts'
import { tokenPurpose } from './purpose.ts'
import {
  countRun,
  deleteForgeImport,
  type ForgeImportRow,
  findForgeImport,
  importsAmong,
  pendingImports,
  recordProgress,
} from './queries.ts'
import { Report } from './report.ts'
import { objectIn } from './values.ts'
import { countedRelations, peopleIn, writeForgeRecords } from './write-records.ts'

/** Runs without a page between them, after which an import is given up. */
const maxFruitless = 10
const [firstDelayMs, lastDelayMs] = [2000, 10 * 60_000]

/**
 * Imports a repository of another forge into a new project. Each run goes on after the last page that was read; one that has to wait
 * ends, and the next is enqueued for later.
 */
export const importFromForge = job({
  name: 'import_from_forge',
  slow: true,
  outgoing: true,
  input: Type.Object({ projectId: Type.Integer(), storage: Type.String() }),
  key: ({ projectId }) => `import_from_forge:${projectId}`,
  async limits({ projectId }, ctx) {
    const pending = await findForgeImport(ctx.db, projectId)
    return pending && remoteLimits('import', { url: pending.forge_url, userId: pending.user_id })
  },
  attempts: 10,
  async run(place, ctx) {
    const { projectId } = place
    const pending = await findForgeImport(ctx.db, projectId)
    if (!pending) {
      await removeWorkFolder(ctx, folderOf(projectId))
      await new PageFiles(ctx, projectId).remove()
      // The importer was deleted, or the import is over and this changes nothing.
      await endInFailure(ctx, projectId, 'The importer no longer exists.')
      return
    }
    try {
      await run(ctx, place, pending)
    } catch (error) {
      // It was canceled, or its project deleted: whatever failed then is of no interest.
      const now = await findForgeImport(ctx.db, projectId)
      if (!now) return
      if (error instanceof ForgeBusy && now.fruitless < maxFruitless) return later(ctx, place, now, error)
      if (!(error instanceof ArchiveRefusal || error instanceof ForgeBusy)) throw error
      await endInFailure(ctx, projectId, error.message)
    }
    await settle(ctx, projectId, pending)
  },
})

const folderOf = (projectId: number): string => `forge-${projectId}`

/** Frees the slot until the forge may be asked again. */
async function later(ctx: Ctx, place: Place, { fruitless }: ForgeImportRow, error: ForgeBusy): Promise<void> {
  const delayMs = error.afterMs ?? Math.min(firstDelayMs * 2 ** fruitless, lastDelayMs)
  ctx.log.info({ project_id: place.projectId, reason: error.message, delay_ms: delayMs }, 'import waits for a forge')
  await ctx.transaction((tx) => enqueue(tx, importFromForge, place, delayMs))
}

/** Ends an import that has failed: forgets the token, and sends the reason to the importer. */
async function settle(ctx: Ctx, projectId: number, { user_id, repository }: ForgeImportRow): Promise<void> {
  await ctx.transaction(async (tx) => {
    if ((await deleteForgeImport(tx, projectId)) === 0) return
    const { import_error } = await findImportState(tx, projectId)
    ctx.log.warn({ project_id: projectId, reason: import_error }, 'failed to import from a forge')
    await tellRequester(
      ctx,
      tx,
      user_id,
      'Import of a repository failed',
      `${repository} could not be imported: ${import_error}`,
    )
  })
  await new PageFiles(ctx, projectId).remove()
}

async function run(ctx: Ctx, place: Place, pending: ForgeImportRow): Promise<void> {
  const { projectId } = place
  if ((await ctx.db.run(importStarted(projectId))) === 0) return
  await countRun(ctx.db, projectId)
  const { importer } = await permitted(ctx, projectId, pending.user_id)
  const adapter = adapters[pending.forge]
  const access: Access = {
    adapter,
    forgeUrl: new URL(pending.forge_url),
    token: ctx.secrets.open(pending.sealed_token, tokenPurpose(projectId)),
  }
  const files = new PageFiles(ctx, projectId)
  const resources = await collect(ctx, {
    access,
    repository: pending.repository,
    stages: { singleEndpointNotes: pending.single_endpoint_notes, people: importer.actor!.admin },
    files,
    optimistic: pending.optimistic,
    fruitless: { before: pending.fruitless, most: maxFruitless },
    async progress() {
      if (!(await recordProgress(ctx.db, projectId))) throw new Error('the import is over')
    },
  })
  const repository = await readRepository(ctx, access, pending.repository)
  await inWorkFolder(ctx, folderOf(projectId), async (folder) => {
    const report = new Report()
    let prepared: Prepared | undefined
    await fillRepository(
      ctx,
      place,
      (repo) =>
        refusing(async () => {
          const made = await prepare(ctx, {
            projectId,
            pending,
            importer,
            access,
            repository,
            files,
            resources,
            repo,
            folder,
            report,
          })
          prepared = made.prepared
          return made.filling
        }),
      (tx) =>
        refusing(async () => {
          if ((await deleteForgeImport(tx, projectId)) === 0) throw new ArchiveRefusal('The import was canceled.')
          await stillPermitted(ctx, projectId, importer)
          const leftOut = await importProject(ctx, tx, projectId, prepared!, new Set())
          for (const [relation, count] of leftOut) {
            report.leftOut(relation, `${count} could not be stored`, count)
            const kind = countedRelations[relation]
            if (kind !== undefined) report.imported(kind, -count)
          }
          await saveImportReport(tx, projectId, report.stored(pending.forge, new Date()))
          await tellRequester(
            ctx,
            tx,
            pending.user_id,
            'Import of a repository finished',
            `${pending.repository} was imported from ${adapter.title} as project ${projectId}:`,
            report.text(),
          )
        }),
    )
  })
  if ((await findForgeImport(ctx.db, projectId)) === undefined) await files.remove()
}

async function readRepository(ctx: Ctx, access: Access, fullName: string): Promise<ForgeRepository> {
  const url = `${access.adapter.apiOf(access.forgeUrl)}/repos/${fullName}`
  const { value } = await getJson(ctx, access, url).catch((error: unknown) => {
    // It is gone, or the token may no longer read it. Lists were empty then.
    if (error instanceof ForgeDenial) throw new ArchiveRefusal(error.message)
    throw error
  })
  const given = objectIn(value)
  const repository = given && access.adapter.readRepository(given)
  if (!repository) throw new ArchiveRefusal('The forge did not describe the repository')
  return repository
}

type Preparing = {
  readonly projectId: number
  readonly pending: ForgeImportRow
  readonly importer: Ctx
  readonly access: Access
  readonly repository: ForgeRepository
  readonly files: PageFiles
  readonly resources: readonly Resource[]
  readonly repo: Repository
  readonly folder: string
  readonly report: Report
}

/** Fetches the code, and writes the records. */
async function prepare(ctx: Ctx, given: Preparing): Promise<{ prepared: Prepared; filling: Filling }> {
  const { projectId, pending, importer, access, repository, files, resources, repo, folder, report } = given
  const fetched = await fetchCode(ctx, repo, access, pending.repository)
  const people = await matched(ctx, importer, await peopleIn(files, resources))
  const recordFolder = join(folder, 'records')
  await mkdir(recordFolder, { mode: 0o700 })
  const records = await writeForgeRecords(
    ctx,
    {
      projectId,
      forge: pending.forge,
      files,
      resources,
      people,
      repo,
      refs: new Set(fetched.refs.map(({ name }) => name)),
      now: new Date().toISOString(),
    },
    recordFolder,
    report,
  )
  await checkRecords(records, relationsFor(importer), { isAdministrator: importer.actor!.admin })
  return {
    prepared: {
      importer,
      attributes: {
        description: repository.description,
        visibility_level: repository.private
          ? visibilities.private
          : visibilities[ctx.settings.default_project_visibility],
        topics: repository.topics,
      },
      records,
      people,
      files: new Map(),
      leftOut: new Map(),
      avatar: undefined,
      sides: { wiki: await wikiOf(ctx, given), snippets: new Map() },
    },
    filling: {
      refs: await withBranchesOfForks(repo, fetched.refs, records),
      defaultBranch: repository.defaultBranch ?? fetched.defaultBranch,
    },
  }
}

/** Forges say that there is a wiki also when it has no page. */
async function wikiOf(ctx: Ctx, { repository, access, pending, report }: Preparing) {
  if (!repository.hasWiki) return undefined
  try {
    const wiki = await fetchWiki(ctx, access, pending.repository)
    if (wiki) report.imported('wiki')
    return wiki
  } catch (error) {
    const isLast = error instanceof ForgeBusy && pending.fruitless + 1 >= maxFruitless
    if (!(error instanceof ArchiveRefusal || error instanceof RemoteRefusal || isLast)) throw error
    report.leftOut('wiki', (error as Error).message)
    return undefined
  }
}

/** Removes what is left of imports that ended without their job: rows with tokens, and pages. */
export const removeForgeLeftovers = job({
  name: 'remove_forge_leftovers',
  input: Type.Object({}),
  key: () => 'remove_forge_leftovers',
  attempts: 3,
  every: { cron: '35 * * * *', input: {} },
  async run(_input, ctx) {
    for (const projectId of await pendingImports(ctx.db)) {
      const { import_status } = await findImportState(ctx.db, projectId)
      const pending = import_status === 'failed' ? await findForgeImport(ctx.db, projectId) : undefined
      if (pending) await settle(ctx, projectId, pending)
    }
    const projectIds = await projectsWithPages(ctx)
    const pending = await importsAmong(ctx.db, projectIds)
    for (const projectId of projectIds) if (!pending.has(projectId)) await new PageFiles(ctx, projectId).remove()
  },
})
