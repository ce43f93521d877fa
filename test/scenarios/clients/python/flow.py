"""What users of python-gitlab do with projects, from the first group to a merge. Runs with every version that the test names.

Arguments: URL of the service, token of the user, token and id of a colleague. Prints the name of each step that passes.
"""

import base64
import os
import sys
import time

import gitlab

url, token, colleague_token, colleague_id = sys.argv[1:5]
colleague_id = int(colleague_id)
gl = gitlab.Gitlab(url, private_token=token)
colleague = gitlab.Gitlab(url, private_token=colleague_token)
is_old = gitlab.__version__.startswith("2.")
name = "flow-" + os.urandom(4).hex()


def step(title):
    print(title, flush=True)


def equal(actual, expected):
    assert actual == expected, f"{actual!r} instead of {expected!r}"


def fails(status, call):
    """The call fails with this status."""
    try:
        call()
    except gitlab.exceptions.GitlabError as error:
        equal(error.response_code, status)
    else:
        raise AssertionError(f"no failure, expected {status}")


def everything(manager, **filters):
    """All records of a list, by the library's own pagination, two at a time."""
    lazy = {"as_list": False} if is_old else {"iterator": True}
    return list(manager.list(per_page=2, **lazy, **filters))


def becomes(read, expected):
    """Reads until the service, which works in the background, is done."""
    for _ in range(300):
        actual = read()
        if actual == expected:
            return
        time.sleep(0.1)
    equal(actual, expected)


# Session

gl.auth()
username = gl.user.username
colleague.auth()
colleague_name = colleague.user.username
equal(gl.version()[0], "13.12.0-ee")
equal([user.username for user in gl.users.list(username=username)], [username])
fails(401, gitlab.Gitlab(url, private_token="wrong").auth)
step("session")

# Groups, members, projects

group = gl.groups.create({"name": name, "path": name, "visibility": "private"})
child = gl.groups.create({"name": "Child", "path": "child", "parent_id": group.id})
equal([each.id for each in group.subgroups.list()], [child.id])
group.description = "Made by a client"
group.save()
equal(gl.groups.get(name).description, "Made by a client")
member = group.members.create({"user_id": colleague_id, "access_level": 30})
member.access_level = 40
member.save()
equal(group.members.get(colleague_id).access_level, 40)
step("groups")

project = gl.projects.create({"name": "Hello World", "namespace_id": child.id, "initialize_with_readme": True})
equal(project.path_with_namespace, f"{name}/child/hello-world")
equal(gl.projects.get(project.path_with_namespace).id, project.id)
project.description = "Edited"
project.topics = ["b", "a"] if not is_old else []
project.save()
equal(gl.projects.get(project.id).description, "Edited")
others = [gl.projects.create({"name": each, "namespace_id": group.id}) for each in ("one", "two", "three", "four")]
equal(sorted(each.name for each in everything(group.projects)), ["four", "one", "three", "two"])
equal(len(everything(gl.projects, membership=True, order_by="id", sort="asc", pagination="keyset")), 5)
equal(project.languages(), {})
project.star()
equal(gl.projects.get(project.id).star_count, 1)
project.unstar()
project.archive()
equal(gl.projects.get(project.id).archived, True)
project.unarchive()
project.members.create({"user_id": colleague_id, "access_level": 40})
equal([each.id for each in project.members.list(query=colleague_name)], [colleague_id])
equal(colleague.projects.get(project.id).id, project.id)
step("projects")

# Files, commits, branches, tags

project = gl.projects.get(project.id)
main = project.default_branch
file = project.files.create(
    {"file_path": "docs/a b.md", "branch": main, "content": "one\n", "commit_message": "Add a file"}
)
file = project.files.get("docs/a b.md", ref=main)
equal(file.decode(), b"one\n")
file.content = "two\n"
file.save(branch=main, commit_message="Edit a file")
equal(project.files.raw("docs/a b.md", ref=main), b"two\n")
equal(project.files.blame("docs/a b.md", ref=main)[0]["lines"], ["two"])
branch = project.branches.create({"branch": "topic/one", "ref": main})
equal(project.branches.get("topic/one").commit["id"], branch.commit["id"])
commit = project.commits.create(
    {
        "branch": "topic/one",
        "commit_message": "Change two files",
        "actions": [
            {"action": "create", "file_path": "new.txt", "content": "new\n"},
            {"action": "update", "file_path": "docs/a b.md", "content": "three\n"},
        ],
    }
)
equal(sorted(each["new_path"] for each in commit.diff()), ["docs/a b.md", "new.txt"])
equal([each["name"] for each in commit.refs("branch")], ["topic/one"])
commit.comments.create({"note": "Well done"})
equal([each.note for each in commit.comments.list()], ["Well done"])
commit.statuses.create({"state": "success", "name": "checks"})
equal([each.status for each in commit.statuses.list()], ["success"])
equal(everything(project.commits, ref_name="topic/one")[0].id, commit.id)
equal([each["path"] for each in project.repository_tree(ref="topic/one")], ["docs", "README.md", "new.txt"])
equal(len(project.repository_compare(main, "topic/one")["commits"]), 1)
assert project.repository_archive(sha=main)[:2] == b"\x1f\x8b"
picked = project.branches.create({"branch": "picked", "ref": main})
commit.cherry_pick("picked")
equal(project.files.get("new.txt", ref="picked").decode(), b"new\n")
picked.delete()
fails(404, lambda: project.branches.get("picked"))
tag = project.tags.create({"tag_name": "v1.0", "ref": main, "message": "First"})
equal(project.tags.get("v1.0").message, "First")
release = project.releases.create({"name": "First", "tag_name": "v1.0", "description": "Notes"})
equal([each.tag_name for each in project.releases.list()], ["v1.0"])
project.releases.delete("v1.0")
tag.delete()
equal(project.tags.list(), [])
step("repository")

# Protected branches and tags

project.branches.create({"branch": "stable", "ref": main})
protected = project.protectedbranches.create({"name": "stable", "push_access_level": 40, "merge_access_level": 30})
equal(project.protectedbranches.get("stable").push_access_levels[0]["access_level"], 40)
fails(409, lambda: project.protectedbranches.create({"name": "stable"}))
protected.delete()
equal([each.name for each in project.protectedbranches.list()], [main])
project.protectedtags.create({"name": "v*", "create_access_level": 40})
equal([each.name for each in project.protectedtags.list()], ["v*"])
project.protectedtags.delete("v*")
step("protected refs")

# Labels and milestones

label = project.labels.create({"name": "kind: bug", "color": "#ff0000"})
label.new_name = "kind: fault"
label.save()
label.subscribe()
equal([each.name for each in project.labels.list()], ["kind: fault"])
group.labels.create({"name": "of the group", "color": "#00ff00"})
milestone = project.milestones.create({"title": "First", "due_date": "2030-05-01T00:00:00Z"})
equal(milestone.due_date, "2030-05-01")
milestone.state_event = "close"
milestone.save()
equal([each.state for each in project.milestones.list(state="closed")], ["closed"])
milestone.state_event = "activate"
milestone.save()
shared_milestone = group.milestones.create({"title": "Of the group", "start_date": "2030-01-01"})
equal([each.id for each in group.milestones.list()], [shared_milestone.id])
step("labels and milestones")

# Merge requests

mr = project.mergerequests.create(
    {
        "source_branch": "topic/one",
        "target_branch": main,
        "title": "Draft: Change two files",
        "labels": ["kind: fault"],
        "milestone_id": milestone.id,
        "assignee_id": gl.user.id,
    }
)
equal(mr.labels, ["kind: fault"])
equal(project.mergerequests.get(mr.iid).work_in_progress, True)
mr.title = "Change two files"
mr.labels = ["kind: fault", "new"]
mr.save()
equal(sorted(project.mergerequests.get(mr.iid).labels), ["kind: fault", "new"])
equal([each.iid for each in project.mergerequests.list(state="opened", labels=["new"])], [mr.iid])
equal([each.iid for each in gl.mergerequests.list(state="opened", scope="created_by_me")], [mr.iid])
equal([each.iid for each in group.mergerequests.list()], [mr.iid])
equal([each.iid for each in milestone.merge_requests()], [mr.iid])
equal([each.id for each in mr.commits()], [commit.id])
equal(len(mr.changes()["changes"]), 2)
becomes(lambda: len(mr.diffs.list()), 1)
diff = mr.diffs.get(mr.diffs.list()[0].id)
equal(len(diff.diffs), 2)
equal([each["username"] for each in mr.participants()], [username])
note = mr.notes.create({"body": "A note"})
note.body = "An edited note"
note.save()
assert "An edited note" in [each.body for each in everything(mr.notes)]
note.awardemojis.create({"name": "tada"})
equal([each.name for each in note.awardemojis.list()], ["tada"])
note.delete()
mr.awardemojis.create({"name": "thumbsup"})
discussion = mr.discussions.create({"body": "A discussion"})
on_line = mr.discussions.create(
    {
        "body": "On a line",
        "position": {
            "position_type": "text",
            "base_sha": diff.base_commit_sha,
            "start_sha": diff.start_commit_sha,
            "head_sha": diff.head_commit_sha,
            "old_path": "new.txt",
            "new_path": "new.txt",
            "new_line": 1,
        },
    }
)
equal(on_line.attributes["notes"][0]["position"]["new_line"], 1)
discussion.notes.create({"body": "A reply"})
equal(len(mr.discussions.get(discussion.id).attributes["notes"]), 2)
on_line.resolved = True
on_line.save()
equal(mr.discussions.get(on_line.id).attributes["notes"][0]["resolved"], True)
mr.time_estimate("3h30m")
mr.add_spent_time("1h")
equal(project.mergerequests.get(mr.iid).time_stats()["time_estimate"], 12600)
mr.reset_spent_time()
mr.reset_time_estimate()
mr.unsubscribe()
mr.subscribe()
mr.todo()
equal([each.target["iid"] for each in gl.todos.list(state="pending")], [mr.iid])
gl.todos.mark_all_as_done()
assert any(each.action == "add" for each in mr.resourcelabelevents.list())
step("merge requests")

# Approvals

approvals = project.approvals.get()
approvals.approvals_before_merge = 0
approvals.reset_approvals_on_push = False
approvals.save()
rule = project.approvalrules.create({"name": "Review", "approvals_required": 1, "user_ids": [colleague_id]})
rule.name = "Careful review"
rule.approvals_required = 1
rule.save()
equal([each.name for each in project.approvalrules.list()], ["Careful review"])
mr.approvals.set_approvers(1, [colleague_id]) if is_old else mr.approvals.set_approvers(
    1, [colleague_id], approval_rule_name="Own"
)
equal(mr.approvals.get().approvals_left, 2)
theirs = colleague.projects.get(project.id).mergerequests.get(mr.iid)
theirs.approve(sha=commit.id)
equal(mr.approvals.get().approvals_left, 0)
theirs.unapprove()
theirs.approve()
equal([each["user"]["id"] for each in mr.approvals.get().approved_by], [colleague_id])
if not is_old:
    equal(mr.approval_state.get().rules[0]["approved"], True)
if hasattr(group, "approval_rules"):
    group_rule = group.approval_rules.create({"name": "Everywhere", "approvals_required": 1, "user_ids": [colleague_id]})
    group_rule.approvals_required = 0
    group_rule.save()
    equal([(each.name, each.approvals_required) for each in group.approval_rules.list()], [("Everywhere", 0)])
step("approvals")

# Merge

becomes(lambda: project.mergerequests.get(mr.iid).merge_status, "can_be_merged")
mr.merge(merge_commit_message="Merge it", should_remove_source_branch=True)
equal(project.mergerequests.get(mr.iid).state, "merged")
equal(project.files.raw("new.txt", ref=main), b"new\n")
fails(405, mr.merge)
becomes(lambda: [each.name for each in project.branches.list(search="topic")], [])
project.branches.create({"branch": "empty", "ref": main})
unneeded = project.mergerequests.create({"source_branch": "empty", "target_branch": main, "title": "Nothing"})
unneeded.state_event = "close"
unneeded.save()
equal(project.mergerequests.get(unneeded.iid).state, "closed")
unneeded.delete()
fails(404, lambda: project.mergerequests.get(unneeded.iid))
step("merge")

# Deploy keys and tokens, variables, environments, deployments

deploy_token = project.deploytokens.create({"name": "deploy", "scopes": ["read_repository"], "expires_at": "2099-01-01"})
assert deploy_token.token
equal([each.name for each in project.deploytokens.list()], ["deploy"])
deploy_token.delete()
equal(project.deploytokens.list(), [])
group.deploytokens.create({"name": "deploy", "scopes": ["read_repository"]})
key = project.keys.create(
    {
        "title": "robot",
        "key": "ssh-ed25519 " + base64.b64encode(b"\0\0\0\x0bssh-ed25519\0\0\0\x20" + os.urandom(32)).decode(),
        "can_push": True,
    }
)
equal([each.title for each in project.keys.list()], ["robot"])
key.delete()
variable = project.variables.create({"key": "COLOR", "value": "red"})
variable.value = "blue"
variable.save()
equal(project.variables.get("COLOR").value, "blue")
environment = project.environments.create({"name": "production", "external_url": "https://example.com"})
deployment = project.deployments.create(
    {"environment": "production", "sha": project.commits.list()[0].id, "ref": main, "tag": False, "status": "running"}
)
deployment.status = "success"
deployment.save()
equal([each.status for each in project.deployments.list()], ["success"])
if hasattr(deployment, "mergerequests"):
    equal([each.iid for each in deployment.mergerequests.list()], [mr.iid])
environment.stop()
equal(project.environments.get(environment.id).state, "stopped")
environment.delete()
equal(project.environments.list(), [])
step("deployments")

# Badges, snapshots of settings, templates, lint

badge = project.badges.create({"link_url": "https://example.com", "image_url": "https://example.com/a.svg"})
badge.delete()
equal(gl.licenses.get("mit").key, "mit")
assert any(each.key == "Node" for each in gl.gitignores.list(per_page=100))
assert gl.dockerfiles.list() and gl.gitlabciymls.list()
content = "job:\n  script: echo\n"
if is_old:
    equal(gl.lint(content), (True, []))
else:
    equal(project.ci_lint.create({"content": content}).valid, True)
equal(project.ci_lint.create({"content": "job: 1\n"}).valid, False) if not is_old else None
fails(403, gl.settings.get)
settings = project.notificationsettings.get()
settings.level = "watch"
settings.save()
equal(project.notificationsettings.get().level, "watch")
assert [each.action_name for each in project.events.list()]
step("settings")

# Wikis

page = project.wikis.create({"title": "How to", "content": "first"})
equal((page.slug, page.title, page.format), ("How-to", "How to", "markdown"))
page.content = "second"
page.save()
equal(project.wikis.get("How-to").content, "second")
# Old versions do not encode the slash when they save or delete a page.
project.wikis.create({"title": "docs/home", "content": "in a folder"})
equal(project.wikis.get("docs/home").content, "in a folder")
equal([each.slug for each in project.wikis.list()], ["docs/home", "How-to"])
if hasattr(group, "wikis"):
    group.wikis.create({"title": "home", "content": "of the group"})
    equal([each.title for each in group.wikis.list()], ["home"])
page.delete()
equal([each.slug for each in project.wikis.list()], ["docs/home"])
step("wikis")

# Integrations, which older versions call services

services = project.services if is_old else project.integrations


def enabled():
    if is_old:
        return [each["slug"] for each in gl.http_get(f"/projects/{project.id}/services")]
    return [each.slug for each in services.list()]


fails(404, lambda: services.get("slack"))
services.update("slack", {"webhook": "https://chat.example.com/hooks/secret", "channel": "general", "issues_events": False})
slack = services.get("slack")
equal((slack.slug, slack.active, slack.push_events, slack.issues_events), ("slack", True, True, False))
equal(slack.properties["channel"], "general")
assert "hooks/secret" not in str(slack.attributes)
slack.push_events = False
slack.save()
equal(services.get("slack").push_events, False)
equal(enabled(), ["slack"])
fails(400, lambda: services.update("emails-on-push", {"recipients": "nowhere"}))
services.update("emails-on-push", {"recipients": "team@example.com", "disable_diffs": True})
equal(services.get("emails-on-push").properties["disable_diffs"], True)
slack.delete()
equal(enabled(), ["emails-on-push"])
step("integrations")

# Sharing and forks

partner = gl.groups.create({"name": name + "-partner", "path": name + "-partner"})
project.share(partner.id, 30)
equal([each["group_id"] for each in gl.projects.get(project.id).shared_with_groups], [partner.id])
project.unshare(partner.id)
fork = project.forks.create({"namespace": partner.id} if is_old else {"namespace_id": partner.id})
becomes(lambda: gl.projects.get(fork.id).import_status, "finished")
equal([each.id for each in project.forks.list()], [fork.id])
fork = gl.projects.get(fork.id)
fork.delete_fork_relation()
equal(project.forks.list(), [])
uploaded = project.upload("a.txt", filedata=b"text")
assert uploaded["url"].startswith("/uploads/")
equal([each["username"] if isinstance(each, dict) else each.username for each in project.users.list(search=username)], [username])
step("sharing")

project.delete()
partner.delete()
group.delete()
step("end")
