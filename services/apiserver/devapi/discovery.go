package main

import (
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	extserver "k8s.io/apiextensions-apiserver/pkg/apiserver"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// listCustomGroups adds the groups of custom resources to the plain document at `/apis`. The aggregated document
// has them without this. Several definitions of one group must serve the same versions.
func listCustomGroups(server *extserver.CustomResourceDefinitions) error {
	add := func(object any) {
		definition, ok := object.(*apiextensions.CustomResourceDefinition)
		if !ok {
			return
		}
		group := metav1.APIGroup{Name: definition.Spec.Group}
		for _, version := range definition.Spec.Versions {
			if version.Served {
				name := definition.Spec.Group + "/" + version.Name
				group.Versions = append(group.Versions, metav1.GroupVersionForDiscovery{GroupVersion: name, Version: version.Name})
			}
		}
		if len(group.Versions) > 0 {
			group.PreferredVersion = group.Versions[0]
			server.GenericAPIServer.DiscoveryGroupManager.AddGroup(group)
		}
	}
	definitions := server.Informers.Apiextensions().V1().CustomResourceDefinitions().Informer()
	_, err := definitions.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    add,
		UpdateFunc: func(_, object any) { add(object) },
	})
	return err
}
