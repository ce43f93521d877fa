export { authenticateDeployToken, authenticateForDeployToken } from './deploy-tokens/authenticate.ts'
export { awaitContents } from './groups/await-projects.ts'
export { type AccountOrGroupDeleted, type Deleted, deletedBy, isDeletedBy } from './groups/deleted-queries.ts'
export { getDetail } from './groups/detail.ts'
export { GroupDetail } from './groups/entity.ts'
export { findGroup, type GroupRow, lockGroup, lockGroupPlace } from './groups/queries.ts'
export { GroupReference } from './groups/reference-entity.ts'
export { type GroupReferenceRow, groupReferenceRow } from './groups/reference-row.ts'
export { createGroup, deepestNesting } from './groups/service.ts'
export { type GroupSubject, group, loadGroup } from './groups/subject.ts'
export { type Holder, instanceHolder, type ProjectOrGroupHolder, placeOf } from './holders/holder.ts'
export { holdPlace } from './holders/place-queries.ts'
export { type Kind, ofProjectsAndGroups, type ProjectOrGroup } from './holders/project-or-group.ts'
export { around, heldBy, holderIds, type Moved, projectsIn, reaching, reachingHolder } from './holders/queries.ts'
export {
  acceptInvitationsLater,
  acceptInvitationsOfMoved,
  acceptInvitationsOfUnlocked,
} from './invitations/jobs.ts'
export { addFirstMember, addOwnerOfNamespace } from './members/first-member.ts'
export { countGroupsOf } from './members/queries.ts'
export { mailAddress, type Recipient, recipientRow } from './members/recipient-queries.ts'
export { ensureOwner } from './members/service.ts'
export {
  levelInForce,
  mailsEnabled,
  notificationLevel,
  ofGroups,
  ofProject,
  settingsInForce,
  watchers,
} from './notification-settings/in-force-queries.ts'
export { type NotificationEvent, notificationEvents, unwatchedEvents } from './notification-settings/levels.ts'
export { type PortableGroup, portableGroups } from './portable/group-queries.ts'
export { copyHoldings } from './portable/holding-queries.ts'
export { groupHoldings, groupMembers, projectHoldings } from './portable/queries.ts'
export { createImportedGroup, groupToFill, placeImportedGroups } from './portable/restore.ts'
export { belowHeld, groupOrder, groupsBelow, heldByGroups } from './portable/tree-queries.ts'
export { resealVariables } from './variables/reseal-queries.ts'
