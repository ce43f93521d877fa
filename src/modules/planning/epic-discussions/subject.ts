import { epicPolicy } from '../../../access/epic-policy.ts'
import { type Discussed, discussedSubject } from '../../discussion/index.ts'
import { epicActions } from '../epic-actions/commands.ts'
import { asNoteable } from '../epics/noteable.ts'
import { touchEpic } from '../epics/queries.ts'
import { type EpicSubject, epicByIidOrId, loadEpicById } from '../epics/subject.ts'

const discussed = (subject: EpicSubject): Discussed => ({
  ...asNoteable(subject),
  iid: subject.iid,
  title: subject.title,
  factsNow: async (now) => (await loadEpicById(subject.id, now))?.facts,
  policy: epicPolicy,
  touch: (tx) => touchEpic(tx, subject.id),
  quickActions: epicActions(subject),
})

/** Epics as the subject of endpoints for notes, discussions and awards. */
export const discussedEpic = discussedSubject({
  type: 'Epic',
  subject: epicByIidOrId,
  path: '/groups/:id/epics/:epic_iid',
  read: 'read_epic',
  update: 'update_epic',
  discussed,
})
