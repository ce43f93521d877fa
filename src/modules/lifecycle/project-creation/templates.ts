import type { Ctx } from '../../../api/ctx.ts'
import { ParameterError } from '../../../api/params/parameter-error.ts'
import type { Tx } from '../../../db/db.ts'
import { enqueue } from '../../../jobs/job.ts'
import { invalidFields } from '../../../kernel/failure.ts'
import { scheduleImport } from '../imports/queries.ts'
import { copyTemplate } from './jobs.ts'
import { findTemplate } from './queries.ts'

/** Parameters that name the template of a new project; all absent if there is none. */
export type TemplateWish = {
  template_name?: string
  template_project_id?: number
  use_custom_template?: boolean
  group_with_project_templates_id?: number
}

/**
 * Finds the requested template. Custom templates are projects of a group: directly in the group of the setting, or
 * anywhere below the group that the request names. The product has no built-in templates, so other names are unknown.
 */
export async function acceptTemplate(ctx: Ctx, request: TemplateWish): Promise<{ id: number } | undefined> {
  const { template_name: name, template_project_id: id, group_with_project_templates_id: groupId } = request
  if (!request.use_custom_template) {
    if (id !== undefined || groupId !== undefined) throw new ParameterError('use_custom_template is missing')
    if (name !== undefined) throw unknown('template_name', name)
    return undefined
  }
  const template = id ?? name
  if (template === undefined)
    throw new ParameterError('template_name, template_project_id are missing, at least one parameter must be provided')
  const group = groupId ?? ctx.settings.custom_project_templates_group_id
  const found =
    group === null
      ? undefined
      : await findTemplate(ctx.db, ctx.actor, { id: group, withSubgroups: groupId !== undefined }, template)
  if (!found) throw unknown(id === undefined ? 'template_name' : 'template_project_id', template)
  return found
}

const unknown = (parameter: keyof TemplateWish, value: number | string) =>
  invalidFields({ [parameter]: [`'${value}' is unknown or invalid`] })

/** Schedules the copy of a template into a new project, in the transaction that creates the project. */
export async function fillFromTemplate(
  ctx: Ctx,
  tx: Tx,
  projectId: number,
  { template, defaultBranch }: { template: { id: number }; defaultBranch: string | undefined },
): Promise<void> {
  const storage = await scheduleImport(tx, projectId, { actorId: ctx.actor!.id })
  await enqueue(tx, copyTemplate, {
    projectId,
    storage,
    templateId: template.id,
    ...(defaultBranch !== undefined && { defaultBranch }),
  })
}
