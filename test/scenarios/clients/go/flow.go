// What users of the Go client library do with projects, from the first group to a merge. The library decodes records into types,
// so every record read here also has the types that it expects.
//
// Arguments: URL of the service, token of the user, token and id of a colleague. Prints the name of each step that passes.
// The test also builds this text with the predecessor of the library, whose calls are the same.
package main

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"sort"
	"strconv"
	"time"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"
)

// number is the type of ids in the library.
type number = int64

func fail(format string, values ...any) {
	_, _, line, _ := runtime.Caller(2)
	fmt.Fprintf(os.Stderr, "flow.go:%d: %s\n", line, fmt.Sprintf(format, values...))
	os.Exit(1)
}

func equal(actual, expected any) {
	if !reflect.DeepEqual(actual, expected) {
		fail("%v instead of %v", actual, expected)
	}
}

// got returns the record of a call that succeeds.
func got[T any](record T, _ *gitlab.Response, err error) T {
	if err != nil {
		fail("%v", err)
	}
	return record
}

// done is for calls without a record.
func done(_ *gitlab.Response, err error) {
	if err != nil {
		fail("%v", err)
	}
}

// status is the status of a call that fails.
func status[T any](_ T, response *gitlab.Response, err error) int {
	if err == nil || response == nil {
		fail("no failure")
	}
	return response.StatusCode
}

func step(title string) { fmt.Println(title) }

// becomes reads until the service, which works in the background, is done.
func becomes(read func() string, expected string) {
	for range [300]int{} {
		if read() == expected {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	fail("%v instead of %v", read(), expected)
}

func names[T any](records []T, name func(T) string) []string {
	all := []string{}
	for _, record := range records {
		all = append(all, name(record))
	}
	sort.Strings(all)
	return all
}

func client(token string) *gitlab.Client {
	made, err := gitlab.NewClient(token, gitlab.WithBaseURL(os.Args[1]), gitlab.WithCustomRetryMax(0))
	if err != nil {
		fail("%v", err)
	}
	return made
}

func main() {
	api, colleague := client(os.Args[2]), client(os.Args[3])
	parsed, _ := strconv.Atoi(os.Args[4])
	colleagueID := number(parsed)
	random := make([]byte, 32)
	_, _ = rand.Read(random)
	name := "go-" + hex.EncodeToString(random[:4])

	user := got(api.Users.CurrentUser())
	equal(got(api.Version.GetVersion()).Version, "13.12.0-ee")
	equal(status(client("wrong").Users.CurrentUser()), 401)
	step("session")

	group := got(api.Groups.CreateGroup(&gitlab.CreateGroupOptions{
		Name: &name, Path: &name, Visibility: gitlab.Ptr(gitlab.PrivateVisibility),
	}))
	child := got(api.Groups.CreateGroup(&gitlab.CreateGroupOptions{
		Name: gitlab.Ptr("Child"), Path: gitlab.Ptr("child"), ParentID: &group.ID,
	}))
	equal(child.FullPath, name+"/child")
	equal(len(got(api.Groups.ListSubGroups(group.ID, nil))), 1)
	got(api.Groups.UpdateGroup(group.ID, &gitlab.UpdateGroupOptions{Description: gitlab.Ptr("Edited")}))
	equal(got(api.Groups.GetGroup(name, nil)).Description, "Edited")
	got(api.GroupMembers.AddGroupMember(group.ID, &gitlab.AddGroupMemberOptions{
		UserID: &colleagueID, AccessLevel: gitlab.Ptr(gitlab.MaintainerPermissions),
	}))
	equal(got(api.GroupMembers.GetGroupMember(group.ID, colleagueID)).AccessLevel, gitlab.MaintainerPermissions)
	equal(len(got(api.Groups.ListAllGroupMembers(group.ID, nil))), 2)
	step("groups")

	project := got(api.Projects.CreateProject(&gitlab.CreateProjectOptions{
		Name: gitlab.Ptr("Hello World"), NamespaceID: &child.ID, InitializeWithReadme: gitlab.Ptr(true),
		MergeMethod: gitlab.Ptr(gitlab.NoFastForwardMerge), SnippetsAccessLevel: gitlab.Ptr(gitlab.DisabledAccessControl),
	}))
	equal(project.PathWithNamespace, name+"/child/hello-world")
	id := project.ID
	equal(got(api.Projects.GetProject(project.PathWithNamespace, nil)).ID, id)
	edited := got(api.Projects.EditProject(id, &gitlab.EditProjectOptions{
		Description: gitlab.Ptr("Edited"), Topics: &[]string{"b", "a"},
	}))
	equal(edited.Topics, []string{"a", "b"})
	for _, each := range []string{"one", "two", "three"} {
		got(api.Projects.CreateProject(&gitlab.CreateProjectOptions{Name: gitlab.Ptr(each), NamespaceID: &group.ID}))
	}
	found := []string{}
	options := &gitlab.ListProjectsOptions{Membership: gitlab.Ptr(true)}
	options.PerPage = 2
	for {
		page, response, err := api.Projects.ListProjects(options)
		for _, each := range got(page, response, err) {
			found = append(found, each.Name)
		}
		if response.NextPage == 0 {
			break
		}
		options.Page = response.NextPage
	}
	sort.Strings(found)
	equal(found, []string{"Hello World", "one", "three", "two"})
	got(api.Projects.StarProject(id))
	got(api.Projects.ArchiveProject(id))
	equal(got(api.Projects.UnarchiveProject(id)).Archived, false)
	got(api.ProjectMembers.AddProjectMember(id, &gitlab.AddProjectMemberOptions{
		UserID: colleagueID, AccessLevel: gitlab.Ptr(gitlab.MaintainerPermissions),
	}))
	equal(len(got(api.ProjectMembers.ListAllProjectMembers(id, nil))), 2)
	step("projects")

	main := got(api.Projects.GetProject(id, nil)).DefaultBranch
	got(api.RepositoryFiles.CreateFile(id, "docs/a b.md", &gitlab.CreateFileOptions{
		Branch: &main, Content: gitlab.Ptr("one\n"), CommitMessage: gitlab.Ptr("Add a file"),
	}))
	got(api.RepositoryFiles.UpdateFile(id, "docs/a b.md", &gitlab.UpdateFileOptions{
		Branch: &main, Content: gitlab.Ptr("two\n"), CommitMessage: gitlab.Ptr("Edit a file"),
	}))
	raw := got(api.RepositoryFiles.GetRawFile(id, "docs/a b.md", &gitlab.GetRawFileOptions{Ref: &main}))
	equal(string(raw), "two\n")
	equal(got(api.RepositoryFiles.GetFile(id, "docs/a b.md", &gitlab.GetFileOptions{Ref: &main})).FileName, "a b.md")
	equal(got(api.RepositoryFiles.GetFileMetaData(id, "docs/a b.md", &gitlab.GetFileMetaDataOptions{Ref: &main})).FileName, "a b.md")
	equal(len(got(api.RepositoryFiles.GetFileBlame(id, "docs/a b.md", &gitlab.GetFileBlameOptions{Ref: &main}))), 1)
	got(api.Branches.CreateBranch(id, &gitlab.CreateBranchOptions{Branch: gitlab.Ptr("topic/one"), Ref: &main}))
	equal(got(api.Branches.GetBranch(id, "topic/one")).Name, "topic/one")
	commit := got(api.Commits.CreateCommit(id, &gitlab.CreateCommitOptions{
		Branch: gitlab.Ptr("topic/one"), CommitMessage: gitlab.Ptr("Change two files"),
		Actions: []*gitlab.CommitActionOptions{
			{Action: gitlab.Ptr(gitlab.FileCreate), FilePath: gitlab.Ptr("new.txt"), Content: gitlab.Ptr("new\n")},
			{Action: gitlab.Ptr(gitlab.FileUpdate), FilePath: gitlab.Ptr("docs/a b.md"), Content: gitlab.Ptr("three\n")},
		},
	}))
	equal(len(got(api.Commits.GetCommitDiff(id, commit.ID, nil))), 2)
	equal(got(api.Commits.GetCommit(id, commit.ID, nil)).Stats.Additions > 0, true)
	got(api.Commits.PostCommitComment(id, commit.ID, &gitlab.PostCommitCommentOptions{Note: gitlab.Ptr("Well done")}))
	equal(len(got(api.Commits.GetCommitComments(id, commit.ID, nil))), 1)
	got(api.Commits.SetCommitStatus(id, commit.ID, &gitlab.SetCommitStatusOptions{
		State: gitlab.Success, Name: gitlab.Ptr("checks"), Coverage: gitlab.Ptr(81.5),
	}))
	equal(len(got(api.Commits.GetCommitStatuses(id, commit.ID, nil))), 1)
	equal(len(got(api.Commits.ListCommits(id, &gitlab.ListCommitsOptions{RefName: gitlab.Ptr("topic/one")}))), 4)
	equal(len(got(api.Repositories.Compare(id, &gitlab.CompareOptions{From: &main, To: gitlab.Ptr("topic/one")})).Commits), 1)
	equal(len(got(api.Repositories.ListTree(id, &gitlab.ListTreeOptions{Ref: gitlab.Ptr("topic/one")}))), 3)
	equal(len(got(api.Repositories.Contributors(id, nil))), 1)
	got(api.Branches.CreateBranch(id, &gitlab.CreateBranchOptions{Branch: gitlab.Ptr("picked"), Ref: &main}))
	got(api.Commits.CherryPickCommit(id, commit.ID, &gitlab.CherryPickCommitOptions{Branch: gitlab.Ptr("picked")}))
	done(api.Branches.DeleteBranch(id, "picked"))
	equal(status(api.Branches.GetBranch(id, "picked")), 404)
	got(api.Tags.CreateTag(id, &gitlab.CreateTagOptions{TagName: gitlab.Ptr("v1.0"), Ref: &main, Message: gitlab.Ptr("First")}))
	equal(got(api.Tags.GetTag(id, "v1.0")).Message, "First")
	got(api.Releases.CreateRelease(id, &gitlab.CreateReleaseOptions{
		Name: gitlab.Ptr("First"), TagName: gitlab.Ptr("v1.0"), Description: gitlab.Ptr("Notes"),
	}))
	equal(got(api.Releases.GetRelease(id, "v1.0")).Name, "First")
	got(api.Releases.DeleteRelease(id, "v1.0"))
	done(api.Tags.DeleteTag(id, "v1.0"))
	step("repository")

	got(api.ProtectedBranches.ProtectRepositoryBranches(id, &gitlab.ProtectRepositoryBranchesOptions{
		Name: gitlab.Ptr("stable"), PushAccessLevel: gitlab.Ptr(gitlab.MaintainerPermissions),
		MergeAccessLevel: gitlab.Ptr(gitlab.DeveloperPermissions),
	}))
	stable := got(api.ProtectedBranches.GetProtectedBranch(id, "stable"))
	equal(stable.PushAccessLevels[0].AccessLevel, gitlab.MaintainerPermissions)
	done(api.ProtectedBranches.UnprotectRepositoryBranches(id, "stable"))
	got(api.ProtectedTags.ProtectRepositoryTags(id, &gitlab.ProtectRepositoryTagsOptions{
		Name: gitlab.Ptr("v*"), CreateAccessLevel: gitlab.Ptr(gitlab.MaintainerPermissions),
	}))
	equal(len(got(api.ProtectedTags.ListProtectedTags(id, nil))), 1)
	step("protected refs")

	got(api.Labels.CreateLabel(id, &gitlab.CreateLabelOptions{Name: gitlab.Ptr("kind: bug"), Color: gitlab.Ptr("#ff0000")}))
	got(api.Labels.UpdateLabel(id, "kind: bug", &gitlab.UpdateLabelOptions{NewName: gitlab.Ptr("kind: fault")}))
	got(api.Labels.SubscribeToLabel(id, "kind: fault"))
	equal(names(got(api.Labels.ListLabels(id, nil)), func(each *gitlab.Label) string { return each.Name }), []string{"kind: fault"})
	due := gitlab.ISOTime(time.Date(2030, 5, 1, 0, 0, 0, 0, time.UTC))
	milestone := got(api.Milestones.CreateMilestone(id, &gitlab.CreateMilestoneOptions{Title: gitlab.Ptr("First"), DueDate: &due}))
	equal(milestone.DueDate.String(), "2030-05-01")
	got(api.Milestones.UpdateMilestone(id, milestone.ID, &gitlab.UpdateMilestoneOptions{Description: gitlab.Ptr("Edited")}))
	got(api.GroupMilestones.CreateGroupMilestone(group.ID, &gitlab.CreateGroupMilestoneOptions{Title: gitlab.Ptr("Shared")}))
	step("labels and milestones")

	labels := gitlab.LabelOptions{"kind: fault"}
	mr := got(api.MergeRequests.CreateMergeRequest(id, &gitlab.CreateMergeRequestOptions{
		Title: gitlab.Ptr("Draft: Change two files"), SourceBranch: gitlab.Ptr("topic/one"), TargetBranch: &main,
		Labels: &labels, MilestoneID: &milestone.ID, AssigneeID: &user.ID,
	}))
	iid := mr.IID
	equal(mr.Draft, true)
	more := gitlab.LabelOptions{"new"}
	got(api.MergeRequests.UpdateMergeRequest(id, iid, &gitlab.UpdateMergeRequestOptions{
		Title: gitlab.Ptr("Change two files"), AddLabels: &more,
	}))
	equal([]string(got(api.MergeRequests.GetMergeRequest(id, iid, nil)).Labels), []string{"kind: fault", "new"})
	equal(len(got(api.MergeRequests.ListProjectMergeRequests(id, &gitlab.ListProjectMergeRequestsOptions{
		State: gitlab.Ptr("opened"), Labels: &more,
	}))), 1)
	equal(len(got(api.MergeRequests.ListMergeRequests(&gitlab.ListMergeRequestsOptions{Scope: gitlab.Ptr("created_by_me")}))), 1)
	equal(len(got(api.MergeRequests.ListGroupMergeRequests(group.ID, nil))), 1)
	equal(len(got(api.MergeRequests.GetMergeRequestCommits(id, iid, nil))), 1)
	equal(len(got(api.MergeRequests.GetMergeRequestParticipants(id, iid))), 1)
	becomes(func() string {
		return strconv.Itoa(len(got(api.MergeRequests.GetMergeRequestDiffVersions(id, iid, nil))))
	}, "1")
	version := got(api.MergeRequests.GetMergeRequestDiffVersions(id, iid, nil))[0]
	equal(len(got(api.MergeRequests.GetSingleMergeRequestDiffVersion(id, iid, version.ID, nil)).Diffs), 2)
	note := got(api.Notes.CreateMergeRequestNote(id, iid, &gitlab.CreateMergeRequestNoteOptions{Body: gitlab.Ptr("A note")}))
	got(api.Notes.UpdateMergeRequestNote(id, iid, note.ID, &gitlab.UpdateMergeRequestNoteOptions{Body: gitlab.Ptr("Edited")}))
	equal(got(api.Notes.GetMergeRequestNote(id, iid, note.ID)).Body, "Edited")
	got(api.AwardEmoji.CreateMergeRequestAwardEmoji(id, iid, &gitlab.CreateAwardEmojiOptions{Name: "thumbsup"}))
	done(api.Notes.DeleteMergeRequestNote(id, iid, note.ID))
	discussion := got(api.Discussions.CreateMergeRequestDiscussion(id, iid, &gitlab.CreateMergeRequestDiscussionOptions{
		Body: gitlab.Ptr("On a line"),
		Position: &gitlab.PositionOptions{
			PositionType: gitlab.Ptr("text"), BaseSHA: &version.BaseCommitSHA, StartSHA: &version.StartCommitSHA,
			HeadSHA: &version.HeadCommitSHA, OldPath: gitlab.Ptr("new.txt"), NewPath: gitlab.Ptr("new.txt"),
			NewLine: gitlab.Ptr(number(1)),
		},
	}))
	equal(discussion.Notes[0].Position.NewLine, number(1))
	got(api.Discussions.AddMergeRequestDiscussionNote(id, iid, discussion.ID, &gitlab.AddMergeRequestDiscussionNoteOptions{
		Body: gitlab.Ptr("A reply"),
	}))
	got(api.Discussions.ResolveMergeRequestDiscussion(id, iid, discussion.ID, &gitlab.ResolveMergeRequestDiscussionOptions{
		Resolved: gitlab.Ptr(true),
	}))
	equal(got(api.Discussions.GetMergeRequestDiscussion(id, iid, discussion.ID)).Notes[0].Resolved, true)
	equal(got(api.MergeRequests.SetTimeEstimate(id, iid, &gitlab.SetTimeEstimateOptions{Duration: gitlab.Ptr("3h30m")})).HumanTimeEstimate, "3h 30m")
	got(api.MergeRequests.CreateTodo(id, iid))
	equal(len(got(api.Todos.ListTodos(nil))), 1)
	done(api.Todos.MarkAllTodosAsDone())
	step("merge requests")

	got(api.Projects.GetApprovalConfiguration(id))
	got(api.Projects.ChangeApprovalConfiguration(id, &gitlab.ChangeApprovalConfigurationOptions{
		ResetApprovalsOnPush: gitlab.Ptr(false),
	}))
	rule := got(api.Projects.CreateProjectApprovalRule(id, &gitlab.CreateProjectLevelRuleOptions{
		Name: gitlab.Ptr("Review"), ApprovalsRequired: gitlab.Ptr(number(1)), UserIDs: &[]number{colleagueID},
	}))
	got(api.Projects.UpdateProjectApprovalRule(id, rule.ID, &gitlab.UpdateProjectLevelRuleOptions{
		Name: gitlab.Ptr("Careful review"), ApprovalsRequired: gitlab.Ptr(number(1)),
	}))
	equal(got(api.Projects.GetProjectApprovalRule(id, rule.ID)).Users[0].ID, colleagueID)
	own := got(api.MergeRequestApprovals.CreateApprovalRule(id, iid, &gitlab.CreateMergeRequestApprovalRuleOptions{
		Name: gitlab.Ptr("Own"), ApprovalsRequired: gitlab.Ptr(number(1)), UserIDs: &[]number{colleagueID},
	}))
	equal(len(got(api.MergeRequestApprovals.GetApprovalRules(id, iid))), 1)
	done(api.MergeRequestApprovals.DeleteApprovalRule(id, iid, own.ID))
	got(colleague.MergeRequestApprovals.ApproveMergeRequest(id, iid, &gitlab.ApproveMergeRequestOptions{SHA: &commit.ID}))
	equal(got(api.MergeRequestApprovals.GetConfiguration(id, iid)).ApprovalsLeft, number(0))
	equal(got(api.MergeRequestApprovals.GetApprovalState(id, iid)).Rules[0].Approved, true)
	step("approvals")

	becomes(func() string { return got(api.MergeRequests.GetMergeRequest(id, iid, nil)).DetailedMergeStatus }, "mergeable")
	merged := got(api.MergeRequests.AcceptMergeRequest(id, iid, &gitlab.AcceptMergeRequestOptions{
		SHA: &commit.ID, MergeCommitMessage: gitlab.Ptr("Merge it"), ShouldRemoveSourceBranch: gitlab.Ptr(true),
	}))
	equal(merged.State, "merged")
	equal(status(api.MergeRequests.AcceptMergeRequest(id, iid, nil)), 405)
	equal(len(got(api.Commits.ListMergeRequestsByCommit(id, commit.ID))), 1)
	step("merge")

	token := got(api.DeployTokens.CreateProjectDeployToken(id, &gitlab.CreateProjectDeployTokenOptions{
		Name: gitlab.Ptr("deploy"), Scopes: &[]string{"read_repository"}, ExpiresAt: gitlab.Ptr(time.Now().AddDate(0, 1, 0)),
	}))
	done(api.DeployTokens.DeleteProjectDeployToken(id, token.ID))
	equal(len(got(api.DeployTokens.ListProjectDeployTokens(id, nil))), 0)
	blob := append([]byte("\x00\x00\x00\x0bssh-ed25519\x00\x00\x00\x20"), random...)
	key := got(api.DeployKeys.AddDeployKey(id, &gitlab.AddDeployKeyOptions{
		Title: gitlab.Ptr("robot"), Key: gitlab.Ptr("ssh-ed25519 " + base64.StdEncoding.EncodeToString(blob)), CanPush: gitlab.Ptr(true),
	}))
	done(api.DeployKeys.DeleteDeployKey(id, key.ID))
	got(api.ProjectVariables.CreateVariable(id, &gitlab.CreateProjectVariableOptions{Key: gitlab.Ptr("COLOR"), Value: gitlab.Ptr("red")}))
	equal(got(api.ProjectVariables.GetVariable(id, "COLOR", nil)).Value, "red")
	environment := got(api.Environments.CreateEnvironment(id, &gitlab.CreateEnvironmentOptions{
		Name: gitlab.Ptr("production"), ExternalURL: gitlab.Ptr("https://example.com"),
	}))
	head := got(api.Branches.GetBranch(id, main)).Commit.ID
	deployment := got(api.Deployments.CreateProjectDeployment(id, &gitlab.CreateProjectDeploymentOptions{
		Environment: gitlab.Ptr("production"), SHA: &head, Ref: &main, Tag: gitlab.Ptr(false),
		Status: gitlab.Ptr(gitlab.DeploymentStatusRunning),
	}))
	got(api.Deployments.UpdateProjectDeployment(id, deployment.ID, &gitlab.UpdateProjectDeploymentOptions{
		Status: gitlab.Ptr(gitlab.DeploymentStatusSuccess),
	}))
	equal(got(api.Deployments.GetProjectDeployment(id, deployment.ID)).Status, "success")
	deployed := got(api.DeploymentMergeRequests.ListDeploymentMergeRequests(id, deployment.ID, nil))
	equal(len(deployed), 1)
	equal(deployed[0].IID, iid)
	equal(got(api.Environments.GetEnvironment(id, environment.ID)).LastDeployment.ID, deployment.ID)
	equal(got(api.Environments.StopEnvironment(id, environment.ID, nil)).State, "stopped")
	done(api.Environments.DeleteEnvironment(id, environment.ID))
	step("deployments")

	equal(got(api.LicenseTemplates.GetLicenseTemplate("mit", nil)).Key, "mit")
	equal(len(got(api.GitIgnoreTemplates.ListTemplates(nil))) > 0, true)
	equal(len(got(api.CIYMLTemplate.ListAllTemplates(nil))) > 0, true)
	equal(got(api.Validate.ProjectNamespaceLint(id, &gitlab.ProjectNamespaceLintOptions{
		Content: gitlab.Ptr("job:\n  script: echo\n"),
	})).Valid, true)
	equal(status(api.Settings.GetSettings()), 403)
	got(api.ProjectBadges.AddProjectBadge(id, &gitlab.AddProjectBadgeOptions{
		LinkURL: gitlab.Ptr("https://example.com"), ImageURL: gitlab.Ptr("https://example.com/a.svg"),
	}))
	equal(len(got(api.ProjectBadges.ListProjectBadges(id, nil))), 1)
	equal(len(got(api.Events.ListProjectVisibleEvents(id, nil))) > 0, true)
	step("settings")

	partnerName := name + "-partner"
	partner := got(api.Groups.CreateGroup(&gitlab.CreateGroupOptions{Name: &partnerName, Path: &partnerName}))
	done(api.Projects.ShareProjectWithGroup(id, &gitlab.ShareWithGroupOptions{
		GroupID: &partner.ID, GroupAccess: gitlab.Ptr(gitlab.DeveloperPermissions),
	}))
	done(api.Projects.DeleteSharedProjectFromGroup(id, partner.ID))
	fork := got(api.Projects.ForkProject(id, &gitlab.ForkProjectOptions{NamespaceID: &partner.ID}))
	becomes(func() string { return got(api.Projects.GetProject(fork.ID, nil)).ImportStatus }, "finished")
	equal(len(got(api.Projects.ListProjectForks(id, nil))), 1)
	done(api.Projects.DeleteProjectForkRelation(fork.ID))
	step("sharing")

	done(api.Projects.DeleteProject(id, nil))
	done(api.Groups.DeleteGroup(partner.ID, nil))
	done(api.Groups.DeleteGroup(group.ID, nil))
	step("end")
}
