// devapi serves the API of Kubernetes on loopback, for tests. Storage, watch cache, versions, patches and
// custom resources are those of k8s.io/apiserver and k8s.io/apiextensions-apiserver. This program adds the
// flags, a few built-in types (builtin.go), callers (access.go), roles (rbac.go) and plain discovery
// (discovery.go).
package main

import (
	"fmt"
	"net"
	"os"

	"github.com/spf13/pflag"
	"go.opentelemetry.io/otel/trace/noop"
	extserver "k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apiextensions-apiserver/pkg/cmd/server/options"
	"k8s.io/apiserver/pkg/admission"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/util/openapi"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/component-base/cli/flag"
)

func main() {
	stop := genericapiserver.SetupSignalContext()
	extension := options.NewCustomResourceDefinitionsServerOptions(os.Stdout, os.Stderr)
	flags := pflag.NewFlagSet("devapi", pflag.ExitOnError)
	flags.SetNormalizeFunc(flag.WordSepNormalizeFunc)
	tokens := flags.String("token-file", "", "file with a line `token,user[,group]` for each caller")
	mode := flags.String("authorization-mode", "AlwaysAllow", "AlwaysAllow or RBAC")
	admitted := flags.String("admission", "webhooks", "none, webhooks, or all: with policies and the life of namespaces")
	extension.AddFlags(flags)
	recommended := extension.RecommendedOptions
	// These ask a surrounding cluster, and there is none.
	recommended.Authentication, recommended.Authorization = nil, nil
	plugins := recommended.Admission
	recommended.CoreAPI, recommended.Admission = nil, nil
	recommended.Features.EnablePriorityAndFairness = false
	must(flags.Parse(os.Args[1:]))
	must(extension.Complete())
	must(recommended.SecureServing.MaybeDefaultWithSelfSignedCerts("localhost", nil, []net.IP{net.IPv4(127, 0, 0, 1)}))

	config := genericapiserver.NewRecommendedConfig(extserver.Codecs)
	must(extension.ServerRunOptions.ApplyTo(&config.Config))
	must(recommended.ApplyTo(config))
	// The handlers call a chain: none would be a panic at a patch while a definition is deleted.
	config.AdmissionControl = admission.NewChainHandler()
	must(extension.APIEnablement.ApplyTo(&config.Config, extserver.DefaultAPIResourceConfigSource(), extserver.Scheme))
	schemas := openapi.GetOpenAPIDefinitionsWithoutDisabledFeatures(definitions)
	namer := openapinamer.NewDefinitionNamer(extserver.Scheme, scheme.Scheme)
	config.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(schemas, namer)
	config.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(schemas, namer)
	config.Authentication.Authenticator = callersOf(*tokens)
	roles := &byRoles{}
	config.Authorization.Authorizer = authorizerOf(*mode, roles)
	wrap := webhook.NewDefaultAuthenticationInfoResolverWrapper(nil, nil, config.LoopbackClientConfig, noop.NewTracerProvider())
	services, err := admit(*admitted, plugins, config, wrap)
	must(err)

	completed := (&extserver.Config{GenericConfig: config, ExtraConfig: extserver.ExtraConfig{
		CRDRESTOptionsGetter: options.NewCRDRESTOptionsGetter(*recommended.Etcd, config.ResourceTransformers, config.StorageObjectCountTracker),
		ServiceResolver:      services,
		AuthResolverWrapper:  wrap,
	}}).Complete()
	completed.GenericConfig.EnableDiscovery = true // in a cluster the aggregator in front has it
	server, err := completed.New(genericapiserver.NewEmptyDelegate())
	must(err)
	roles.stores, err = installBuiltIns(server.GenericAPIServer, recommended.Etcd, config.ResourceTransformers)
	must(err)
	must(listCustomGroups(server))
	must(server.GenericAPIServer.PrepareRun().RunWithContext(stop))
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
