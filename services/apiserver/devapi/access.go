package main

import (
	"context"
	"crypto/subtle"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// callersOf identifies callers by bearer tokens. The file is read at each request, so a token may come and go
// while the server runs. A token that the file does not have is answered 401.
func callersOf(file string) authenticator.Request {
	return authenticator.RequestFunc(func(request *http.Request) (*authenticator.Response, bool, error) {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, false, err
		}
		given := strings.TrimPrefix(request.Header.Get("Authorization"), "Bearer ")
		for _, line := range strings.Split(string(text), "\n") {
			fields := strings.Split(strings.TrimSpace(line), ",")
			if len(fields) < 2 || fields[0] == "" || subtle.ConstantTimeCompare([]byte(given), []byte(fields[0])) != 1 {
				continue
			}
			groups := append([]string{user.AllAuthenticated}, fields[2:]...)
			return &authenticator.Response{User: &user.DefaultInfo{Name: fields[1], Groups: groups}}, true, nil
		}
		return nil, false, nil
	})
}

// authorizerOf is the authorizer of a mode.
func authorizerOf(mode string, roles *byRoles) authorizer.Authorizer {
	switch mode {
	case "AlwaysAllow":
		return viewersOnlyRead
	case "RBAC":
		return roles
	default:
		must(fmt.Errorf("--authorization-mode must be AlwaysAllow or RBAC, got %q", mode))
		return nil
	}
}

// viewersOnlyRead allows everything to everyone, except writes to the group `view`: those are answered 403.
var viewersOnlyRead = authorizer.AuthorizerFunc(func(_ context.Context, request authorizer.Attributes) (authorizer.Decision, string, error) {
	if !request.IsReadOnly() && slices.Contains(request.GetUser().GetGroups(), "view") {
		return authorizer.DecisionDeny, "the group view may only read", nil
	}
	return authorizer.DecisionAllow, "", nil
})
