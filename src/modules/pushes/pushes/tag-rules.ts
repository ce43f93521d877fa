import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import { tagName } from '../../../git/format/ref-name.ts'
import { onEach } from './rule.ts'

/** Rule of protected tags: the users its rule names may create one; it cannot be changed afterwards. */
export const tagRule = onEach(({ name: ref, from, to }, { ctx, project, protections }) => {
  const name = tagName(ref)
  if (name === undefined) return undefined
  if (from !== null && !allows(projectPolicy.admin_tag, ctx.actor, project.facts))
    return 'You are not allowed to change existing tags on this project.'
  if (!protections.isProtected('tag', name)) return undefined
  if (to === null) return 'Protected tags cannot be deleted.'
  if (from !== null) return 'Protected tags cannot be updated.'
  return protections.grants('create', 'tag', name)
    ? undefined
    : 'You are not allowed to create this tag as it is protected.'
})
