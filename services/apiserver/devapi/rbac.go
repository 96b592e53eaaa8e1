package main

// Authorization by the roles and bindings that the server stores. The library of the API server has no RBAC of its
// own: that of a cluster is in kube-apiserver. Here the rules are matched by k8s.io/component-helpers.

import (
	"cmp"
	"context"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/component-helpers/auth/rbac/validation"
)

// fromCache asks a store for the state of its watch cache.
const fromCache = "0"

// byRoles allows what a role grants, and everything to the group system:masters.
type byRoles struct {
	stores map[string]*genericregistry.Store // by plural
}

func (r *byRoles) Authorize(ctx context.Context, attributes authorizer.Attributes) (authorizer.Decision, string, error) {
	if slices.Contains(attributes.GetUser().GetGroups(), user.SystemPrivilegedGroup) {
		return authorizer.DecisionAllow, "", nil
	}
	granted, err := r.rulesOf(ctx, attributes.GetUser(), attributes.GetNamespace())
	if err != nil {
		return authorizer.DecisionNoOpinion, "", err
	}
	if isCovered, _ := validation.Covers(granted, []rbacv1.PolicyRule{ruleFor(attributes)}); isCovered {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionNoOpinion, "no role grants it", nil
}

// ruleFor is the smallest rule that allows a request.
func ruleFor(attributes authorizer.Attributes) rbacv1.PolicyRule {
	rule := rbacv1.PolicyRule{Verbs: []string{attributes.GetVerb()}}
	if !attributes.IsResourceRequest() {
		rule.NonResourceURLs = []string{attributes.GetPath()}
		return rule
	}
	resource := attributes.GetResource()
	if attributes.GetSubresource() != "" {
		resource += "/" + attributes.GetSubresource()
	}
	rule.APIGroups, rule.Resources = []string{attributes.GetAPIGroup()}, []string{resource}
	if attributes.GetName() != "" {
		rule.ResourceNames = []string{attributes.GetName()}
	}
	return rule
}

// rulesOf are the rules that bindings grant to a caller in the whole cluster and in a namespace.
func (r *byRoles) rulesOf(ctx context.Context, caller user.Info, namespace string) ([]rbacv1.PolicyRule, error) {
	var rules []rbacv1.PolicyRule
	add := func(ref rbacv1.RoleRef, subjects []rbacv1.Subject, namespace string) error {
		if !areOf(subjects, caller, namespace) {
			return nil
		}
		more, err := r.rulesIn(ctx, ref, namespace)
		rules = append(rules, more...)
		return err
	}
	list, err := r.stores["clusterrolebindings"].List(ctx, &internalversion.ListOptions{ResourceVersion: fromCache})
	if err != nil {
		return nil, err
	}
	for _, binding := range list.(*rbacv1.ClusterRoleBindingList).Items {
		if err := add(binding.RoleRef, binding.Subjects, ""); err != nil {
			return nil, err
		}
	}
	if namespace == "" {
		return rules, nil
	}
	list, err = r.stores["rolebindings"].List(request.WithNamespace(ctx, namespace), &internalversion.ListOptions{ResourceVersion: fromCache})
	if err != nil {
		return nil, err
	}
	for _, binding := range list.(*rbacv1.RoleBindingList).Items {
		if err := add(binding.RoleRef, binding.Subjects, namespace); err != nil {
			return nil, err
		}
	}
	return rules, nil
}

// rulesIn are the rules of a role. One that is missing has none.
func (r *byRoles) rulesIn(ctx context.Context, ref rbacv1.RoleRef, namespace string) ([]rbacv1.PolicyRule, error) {
	plural := "clusterroles"
	if ref.Kind == "Role" {
		plural, ctx = "roles", request.WithNamespace(ctx, namespace)
	}
	object, err := r.stores[plural].Get(ctx, ref.Name, &metav1.GetOptions{ResourceVersion: fromCache})
	if errors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if role, ok := object.(*rbacv1.Role); ok {
		return role.Rules, nil
	}
	return object.(*rbacv1.ClusterRole).Rules, nil
}

// areOf tells whether one of the subjects of a binding is the caller.
func areOf(subjects []rbacv1.Subject, caller user.Info, namespace string) bool {
	return slices.ContainsFunc(subjects, func(subject rbacv1.Subject) bool {
		switch subject.Kind {
		case rbacv1.UserKind:
			return subject.Name == caller.GetName()
		case rbacv1.GroupKind:
			return slices.Contains(caller.GetGroups(), subject.Name)
		case rbacv1.ServiceAccountKind:
			home := cmp.Or(subject.Namespace, namespace)
			return home != "" && serviceaccount.MatchesUsername(home, subject.Name, caller.GetName())
		default:
			return false
		}
	})
}
