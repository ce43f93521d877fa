import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { decodeText, shownPath } from '../../../git/format/text.ts'
import { readBlob } from '../../../git/objects/blobs.ts'
import { readTreeAt } from '../../../git/objects/trees.ts'
import { forbidden, notFound } from '../../../kernel/failure.ts'
import { openRepository, type ProjectSubject } from '../../projects/index.ts'
import { defaultRef, findCommitId } from '../commits/revision.ts'
import { isOwnKind, type Kind, kinds, type OwnKind, ownKinds, type Template } from './kinds.ts'
import { type TemplateProjectRow, templateProjects } from './queries.ts'
import { shippedTemplates } from './shipped.ts'

const maxBytes = 1024 * 1024

/**
 * Templates for a project, or without one: of the groups above it, of the installation, and built-in ones. The nearest
 * wins if several have the same key. Choosing a project of templates needs access to its code, and shows those files to
 * all readers of projects in the group.
 */
export async function listTemplates(ctx: Ctx, kind: Kind, within?: ProjectSubject): Promise<readonly Template[]> {
  const projects = await templateProjects(ctx.db, within?.namespace_id ?? null, ctx.settings.file_template_project_id)
  const custom = await Promise.all(projects.map((project) => templatesIn(ctx, project, kinds[kind])))
  const nearest = new Map<string, Template>()
  for (const template of [...custom.flat(), ...shippedTemplates(kind)])
    if (!nearest.has(template.key)) nearest.set(template.key, template)
  return [...nearest.values()]
}

/** As `listTemplates`, with the project's own templates, for callers who may read its code. */
export async function templatesOf(
  ctx: Ctx,
  project: ProjectSubject,
  kind: Kind | OwnKind,
): Promise<readonly Template[]> {
  if (!isOwnKind(kind)) return listTemplates(ctx, kind, project)
  if (!allows(projectPolicy.read_code, ctx.actor, project.facts)) throw forbidden()
  return templatesIn(ctx, project, ownKinds[kind])
}

/** Keys of licenses are SPDX identifiers, in which case does not matter; a key of exactly this case comes first. */
export function requireTemplate(templates: readonly Template[], kind: Kind | OwnKind, key: string): Template {
  const lower = key.toLowerCase()
  const found =
    templates.find((template) => template.key === key) ??
    (kind === 'licenses' ? templates.find((template) => template.key.toLowerCase() === lower) : undefined)
  if (!found) throw notFound('Template')
  return found
}

/** Files in a folder of the default branch, by name. One round trip, not cached. */
async function templatesIn(
  ctx: Ctx,
  project: TemplateProjectRow,
  { folder, extension }: { folder: string; extension: string },
): Promise<Template[]> {
  const repo = openRepository(ctx, project)
  const commit = await findCommitId(repo, defaultRef(project))
  const entries = (commit && (await readTreeAt(repo, commit, folder))) ?? []
  return entries
    .filter(({ name, mode }) => mode.startsWith('100') && name.endsWith(extension) && name !== extension)
    .map(({ name, oid }) => ({
      key: shownPath(name).slice(0, -extension.length),
      async read() {
        const blob = await readBlob(repo, oid, { maxBytes })
        if (!blob) throw notFound('Template')
        return decodeText(blob.content)
      },
    }))
}
