import type { TObject } from 'typebox'
import type { GroupAbility } from '../../../access/group-policy.ts'
import type { ProjectAbility } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Endpoint, Subject } from '../../../api/endpoint.ts'
import { type ProjectSubject, project } from '../../projects/index.ts'
import { type GroupSubject, group } from '../groups/subject.ts'
import { groupMembership, type Membership, projectMembership } from '../members/service.ts'
import type { ProjectOrGroupHolder } from './holder.ts'

export type ProjectOrGroup = ProjectSubject | GroupSubject

/** Differences between projects and groups for endpoints that both have: path prefix, subject, holder and texts. */
export type Kind = {
  readonly of: 'project' | 'group'
  readonly base: '/projects/:id' | '/groups/:id'
  readonly subject: Subject<ProjectOrGroup, ProjectAbility & GroupAbility, TObject>
  holderOf(held: ProjectOrGroup): ProjectOrGroupHolder
  membershipOf(held: ProjectOrGroup, ctx: Ctx): Promise<Membership>
}

const kinds: readonly Kind[] = [
  {
    of: 'project',
    base: '/projects/:id',
    // The two subjects use different abilities for visibility; shared endpoints only use abilities that both have.
    subject: project as unknown as Kind['subject'],
    holderOf: ({ id }) => ({ of: 'project', id }),
    membershipOf: (held, ctx) => projectMembership(ctx.db, ctx.plan, held as ProjectSubject),
  },
  {
    of: 'group',
    base: '/groups/:id',
    subject: group as unknown as Kind['subject'],
    holderOf: ({ id }) => ({ of: 'group', id }),
    membershipOf: async (held) => groupMembership(held as GroupSubject),
  },
]

/** Declares endpoints once for projects and groups. */
export const ofProjectsAndGroups = (routesOf: (kind: Kind) => readonly Endpoint[]): readonly Endpoint[] =>
  kinds.flatMap(routesOf)
